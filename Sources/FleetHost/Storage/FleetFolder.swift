#if Fleet
import Glibc
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetStore
import OtaflashState

/// The directory with the runs of this user.
package struct FleetFolder: Sendable {
  let store: String
  /// The path of the store.
  package var path: String { store }
  private let session: Session

  package init(of session: Session) throws(CommandFault) {
    let directory: StateDirectory
    do throws(StateFault) {
      directory = try StateDirectory.locate(environment: session.environment)
    } catch {
      throw .state(error)
    }
    store = Self.store(in: directory)
    self.session = session
  }

  private static func store(in directory: StateDirectory) -> String {
    directory.path + "/fleet.sqlite"
  }

  /// Returns the names of the stored runs, the newest first, for the completion of a shell. The
  /// result is empty if the store cannot be read, because a shell shows no errors.
  package static func runNames(environment: [String: String]) -> [String] {
    do {
      let path = store(in: try StateDirectory.locate(environment: environment))
      guard access(path, R_OK) == 0 else { return [] }
      return try FleetStore(path: path, isReadOnly: true).runs().map(\.id)
    } catch {
      return []
    }
  }

  /// Returns the store for a command that only reads; `nil` if it does not exist.
  package func look() throws(CommandFault) -> FleetStore? {
    guard access(store, F_OK) == 0 || ![ENOENT, ENOTDIR].contains(errno) else { return nil }
    return try store(isReadOnly: true)
  }

  /// Returns the store, and creates it if necessary. A damaged store is renamed and reported.
  package func open() throws(CommandFault) -> FleetStore {
    _ = try StateStore.open(session)
    return try store(isReadOnly: false)
  }

  private func store(isReadOnly: Bool) throws(CommandFault) -> FleetStore {
    do throws(StorageFault) {
      let opened = try FleetStore(path: store, isReadOnly: isReadOnly)
      session.console.note("store of runs", setAside: opened.setAside)
      return opened
    } catch {
      throw .fleet(.store(error))
    }
  }

  /// Locks the runs: only one process at a time can work on them.
  package func lock() throws(CommandFault) -> RunLock {
    _ = try StateStore.open(session)
    do throws(RunLockFault) { return try RunLock(store: store) } catch {
      throw .fleet(.held(error))
    }
  }
}

extension FleetFolder {
  /// The number of attempts to lock a run, and the interval between them. A command that changes a
  /// run holds the lock for a few milliseconds.
  private static let patience = (attempts: 20, interval: Duration.milliseconds(50))

  /// Locks a run for changes.
  package func lock(run: String) async throws(CommandFault) -> ActiveRunLock {
    for _ in 1..<Self.patience.attempts {
      do throws(RunLockFault) { return try ActiveRunLock(run: run, store: store) } catch {
        guard case .held = error else { throw .fleet(.held(error)) }
      }
      guard await Pause.sleep(for: Self.patience.interval) else { throw .stopped }
    }
    do throws(RunLockFault) { return try ActiveRunLock(run: run, store: store) } catch {
      throw .fleet(.held(error))
    }
  }

  /// Returns whether a process is working on the run.
  package func isActive(_ run: String) -> Bool { ActiveRunLock.isHeld(run: run, store: store) }

  /// Finds the run of a command: without a name, the active run, otherwise the newest run.
  package func find(_ name: String?, in store: FleetStore) throws(CommandFault) -> KeptRun {
    do throws(RunSearchFault) { return try store.run(named: name, isActive: isActive) } catch {
      if error == .none {
        let losses = try store.lossWords()
        guard losses.isEmpty else { throw .fleet(.lostRuns(run: nil, losses)) }
      }
      throw .fleet(.search(error))
    }
  }
}
#endif
