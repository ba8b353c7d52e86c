/// The exclusive right of one process to the jobs of a campaign store. Other processes may read the
/// store and add requests. The kernel releases the lock when the process ends (`NameLock`).
package struct RunLock: ~Copyable, Sendable {
  private static let prefix = "otaflash/fleet/"

  private let place: NameLock
  private let file: NameLock?

  /// Acquires the lock without waiting.
  ///
  /// - Parameter store: the path of the store file, which need not exist; all paths of one file
  ///   refer to the same lock.
  /// - Throws: `.held`, even if the holder is this process.
  package init(store: String) throws(RunLockFault) {
    let identity = DeviceIdentity(path: store, device: store)
    do throws(NameLock.Refusal) {
      let place = try NameLock(Self.prefix + identity.name)
      var file: NameLock?
      if let name = identity.otherName { file = try NameLock(Self.prefix + name) }
      self.place = place
      self.file = file
    } catch {
      switch error {
      case .held(let holder): throw .held(store: store, by: holder)
      case .failed(let errno): throw .state(StateFault(.lock, path: store, errno))
      }
    }
  }

  /// Returns whether a process holds the lock on the jobs of a store.
  package static func isHeld(store: String) -> Bool {
    let identity = DeviceIdentity(path: store, device: store)
    return [identity.name, identity.otherName].compactMap(\.self)
      .contains { NameLock.isHeld(prefix + $0) }
  }

  /// Releases the lock explicitly.
  package consuming func release() {}
}

/// The exclusive right of one process to change one run. Other processes use this lock to detect an
/// active run. The kernel releases the lock when the process ends.
package struct ActiveRunLock: ~Copyable, Sendable {
  private let lock: NameLock

  /// Acquires the lock without waiting.
  ///
  /// - Parameter store: the path of the store file, which must exist.
  /// - Throws: `.held`, even if the holder is this process.
  package init(run: String, store: String) throws(RunLockFault) {
    do throws(NameLock.Refusal) { lock = try NameLock(Self.name(of: run, store)) } catch {
      switch error {
      case .held(let holder): throw .held(store: store, by: holder)
      case .failed(let errno): throw .state(StateFault(.lock, path: store, errno))
      }
    }
  }

  /// Returns whether a process holds the lock of the run.
  package static func isHeld(run: String, store: String) -> Bool {
    NameLock.isHeld(name(of: run, store))
  }

  private static func name(of run: String, _ store: String) -> String {
    let identity = DeviceIdentity(path: store, device: store)
    return "otaflash/run/" + DeviceFileName.digest("\(identity.otherName ?? identity.name)/\(run)")
  }

  /// Releases the lock explicitly.
  package consuming func release() {}
}

/// The reason why a process cannot acquire the lock of a store or of a run.
package enum RunLockFault: Error, Equatable, Sendable {
  /// Another process, or another task of this process, holds the lock; `nil` means that the pid of
  /// the holder is unknown.
  case held(store: String, by: Int32?)
  case state(StateFault)
}

extension RunLockFault: CustomStringConvertible {
  /// The fault, as a clause.
  package var description: String {
    switch self {
    case .held(let store, let holder?): "process \(holder) is working on the runs in \(store)"
    case .held(let store, nil): "another process is working on the runs in \(store)"
    case .state(let fault): fault.description
    }
  }
}
