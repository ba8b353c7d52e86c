#if Sites
import OtaflashFleet

/// An event log that commits and flushes each event separately, as a coordinator without grouped
/// commits does.
struct SingleCommits: EventLedger {
  let base: any EventLedger

  func append(_ events: [FleetEvent], at moment: WallClockTime) async throws(StorageFault) {
    for event in events { try await base.append([event], at: moment) }
  }

  func history() async throws(StorageFault) -> [RecordedEvent] { try await base.history() }
}
#endif
