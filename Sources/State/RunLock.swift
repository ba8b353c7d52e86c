/// The right of one process to work with the jobs of a fleet's store; others may read it and put
/// requests. Given back by the kernel when the process dies (`NameLock`).
package struct RunLock: ~Copyable, Sendable {
  private static let prefix = "otaflash/fleet/"

  private let place: NameLock
  private let file: NameLock?

  /// Takes the lock at once or not at all.
  /// - Parameter store: the path of the store's file, which may not be there yet: whatever path
  ///   leads to a file, it is one lock.
  /// - Throws: `.held`, also when the holder is this process.
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

  /// Whether a process works with the jobs of a store now.
  package static func isHeld(store: String) -> Bool {
    let identity = DeviceIdentity(path: store, device: store)
    return [identity.name, identity.otherName].compactMap(\.self)
      .contains { NameLock.isHeld(prefix + $0) }
  }

  /// Ends the lock here, where the reader can see it.
  package consuming func release() {}
}

/// The right of one process to change one run; it shows others which run is active. Given
/// back by the kernel when the process ends.
package struct ActiveRunLock: ~Copyable, Sendable {
  private let lock: NameLock

  /// Takes the lock immediately or not at all.
  ///
  /// - Parameter store: the path of the store's file, which exists.
  /// - Throws: `.held`, also when the holder is this process.
  package init(run: String, store: String) throws(RunLockFault) {
    do throws(NameLock.Refusal) { lock = try NameLock(Self.name(of: run, store)) } catch {
      switch error {
      case .held(let holder): throw .held(store: store, by: holder)
      case .failed(let errno): throw .state(StateFault(.lock, path: store, errno))
      }
    }
  }

  /// Whether a process works on the run now.
  package static func isHeld(run: String, store: String) -> Bool {
    NameLock.isHeld(name(of: run, store))
  }

  private static func name(of run: String, _ store: String) -> String {
    let identity = DeviceIdentity(path: store, device: store)
    return "otaflash/run/" + DeviceFileName.digest("\(identity.otherName ?? identity.name)/\(run)")
  }

  /// Ends the lock here, where the reader can see it.
  package consuming func release() {}
}

/// Why a process may not work with a store.
package enum RunLockFault: Error, Equatable, Sendable {
  /// Another process (or this one, elsewhere) does; `nil` when nobody knows which.
  case held(store: String, by: Int32?)
  case state(StateFault)
}

extension RunLockFault: CustomStringConvertible {
  /// What happened: a clause.
  package var description: String {
    switch self {
    case .held(let store, let holder?): "process \(holder) works on the runs in \(store)"
    case .held(let store, nil): "another process works on the runs in \(store)"
    case .state(let fault): fault.description
    }
  }
}
