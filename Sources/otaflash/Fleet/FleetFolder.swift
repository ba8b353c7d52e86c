#if Fleet
import Glibc
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetStore
import OtaflashState

/// The directory with the runs of this user.
struct FleetFolder: Sendable {
  let store: String
  private let session: Session

  init(of session: Session) throws(CommandFault) {
    let directory: StateDirectory
    do throws(StateFault) {
      directory = try StateDirectory.locate(environment: session.environment)
    } catch {
      throw .state(error)
    }
    store = directory.path + "/fleet.sqlite"
    self.session = session
  }

  /// Returns the store for a command that only reads; `nil` if it does not exist.
  func look() throws(CommandFault) -> FleetStore? {
    guard access(store, F_OK) == 0 || ![ENOENT, ENOTDIR].contains(errno) else { return nil }
    return try store(isReadOnly: true)
  }

  /// Returns the store, and creates it if necessary. A damaged store is renamed and reported.
  func open() throws(CommandFault) -> FleetStore {
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
  func lock() throws(CommandFault) -> RunLock {
    _ = try StateStore.open(session)
    do throws(RunLockFault) { return try RunLock(store: store) } catch {
      throw .fleet(.held(error))
    }
  }
}

extension FleetFolder {
  /// A command that changes a run has its lock for a few milliseconds.
  private static let patience = (attempts: 20, interval: Duration.milliseconds(50))

  /// Locks a run for changes.
  func lock(run: String) async throws(CommandFault) -> ActiveRunLock {
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

  /// Whether a process works on the run.
  func isActive(_ run: String) -> Bool { ActiveRunLock.isHeld(run: run, store: store) }

  /// Finds the run of a command: without a name, the active one, else the newest.
  func find(_ name: String?, in store: FleetStore) throws(CommandFault) -> KeptRun {
    do throws(RunSearchFault) { return try store.run(named: name, isActive: isActive) } catch {
      if error == .none {
        let losses = try store.lossWords()
        guard losses.isEmpty else { throw .fleet(.lostRuns(run: nil, losses)) }
      }
      throw .fleet(.search(error))
    }
  }
}

extension FleetStore {
  /// Compares every event of a run with its recorded hash.
  ///
  /// - Returns: the number of events, and the hash of the last one.
  func checkedChain(of run: String) throws(CommandFault) -> (events: Int, head: [UInt8]) {
    let verdict: ChainVerdict
    do throws(StorageFault) { verdict = try verify(run: run) } catch { throw .fleet(.store(error)) }
    let words: String
    switch verdict {
    case .intact(let events, let head): return (events, head)
    case .changed(let event): words = "event \(event) was changed"
    case .cut(let found, let recorded) where found < recorded:
      words = "\(recorded - found) of \(recorded) events are missing"
    case .cut(let found, let recorded):
      words = "there are \(found) events, and \(recorded) were recorded"
    }
    throw .fleet(.brokenChain(run: run, words: words))
  }

  func history(of run: String) async throws(CommandFault) -> [RecordedEvent] {
    do throws(StorageFault) { return try await ledger(of: run).history() } catch {
      throw .fleet(.store(error))
    }
  }
}
#endif
