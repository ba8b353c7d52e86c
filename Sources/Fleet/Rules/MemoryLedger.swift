import Synchronization

/// A ledger that forgets everything with its process.
package final class MemoryLedger: EventLedger {
  private let state = Mutex<(events: [RecordedEvent], newsSeen: Int)>(([], 0))

  package init() {}

  package func append(
    _ events: [FleetEvent], at moment: FleetTime, newsSeen: Int
  ) async throws(StorageFault) {
    state.withLock { state in
      for event in events {
        state.events.append(
          RecordedEvent(number: state.events.count + 1, at: moment, event: event))
      }
      state.newsSeen = newsSeen
    }
  }

  package func history() async throws(StorageFault) -> (events: [RecordedEvent], newsSeen: Int) {
    state.withLock { $0 }
  }
}
