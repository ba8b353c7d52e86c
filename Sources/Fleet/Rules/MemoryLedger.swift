import Synchronization

/// A ledger that forgets everything with its process.
package final class MemoryLedger: EventLedger {
  private let events = Mutex<[RecordedEvent]>([])

  package init() {}

  package func append(
    _ new: [FleetEvent], at moment: WallClockTime
  ) async throws(StorageFault) {
    events.withLock { events in
      for event in new {
        events.append(RecordedEvent(number: events.count + 1, at: moment, event: event))
      }
    }
  }

  package func history() async throws(StorageFault) -> [RecordedEvent] { events.withLock { $0 } }
}
