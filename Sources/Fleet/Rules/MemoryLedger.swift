import Synchronization

/// An event log in memory, whose records are lost when the process ends.
public final class MemoryLedger: EventLedger {
  private let events = Mutex<[RecordedEvent]>([])

  /// Creates an empty event log.
  public init() {}

  public func append(
    _ new: [FleetEvent], at moment: WallClockTime
  ) async throws(StorageFault) {
    events.withLock { events in
      for event in new {
        events.append(RecordedEvent(number: events.count + 1, at: moment, event: event))
      }
    }
  }

  public func history() async throws(StorageFault) -> [RecordedEvent] { events.withLock { $0 } }
}
