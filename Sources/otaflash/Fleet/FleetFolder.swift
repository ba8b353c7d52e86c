#if Fleet
import Glibc
import OtaflashFleet
import OtaflashFleetStore
import OtaflashState

/// Where this user's runs are kept.
struct FleetFolder: Sendable {
  let store: String
  private let session: Session

  init(of session: Session) throws(CommandFault) {
    store = try DeviceRecords.open(session).directory.path + "/fleet.sqlite"
    self.session = session
  }

  /// The store, for who only looks; `nil` while there is none.
  func look() throws(CommandFault) -> FleetStore? {
    guard access(store, F_OK) == 0 else { return nil }
    return try open(isReadOnly: true)
  }

  /// The store, made where there is none. A damaged one is put aside, and told of.
  func open(isReadOnly: Bool = false) throws(CommandFault) -> FleetStore {
    do throws(StorageFault) {
      let opened = try FleetStore(path: store, isReadOnly: isReadOnly)
      session.console.note("store of runs", setAside: opened.setAside)
      return opened
    } catch {
      throw .fleet(.store(error))
    }
  }

  /// The right to work on runs: one process at a time has it.
  func lock() throws(CommandFault) -> RunLock {
    do throws(RunLockFault) { return try RunLock(store: store) } catch {
      throw .fleet(.held(error))
    }
  }
}

extension FleetStore {
  /// The run that a person means.
  func find(_ name: String?) throws(CommandFault) -> KeptRun {
    do throws(RunSearchFault) { return try run(named: name) } catch { throw .fleet(.search(error)) }
  }

  func history(of run: String) async throws(CommandFault) -> [RecordedEvent] {
    do throws(StorageFault) { return try await ledger(of: run).history().events } catch {
      throw .fleet(.store(error))
    }
  }
}
#endif
