/// An event with its number in the run.
public struct RecordedEvent: Hashable, Sendable {
  /// The number of the event in the run: 1, 2, …
  public let number: Int
  /// The time at which the event was recorded.
  public let at: WallClockTime
  /// The event.
  public let event: FleetEvent

  /// Creates a record.
  public init(number: Int, at: WallClockTime, event: FleetEvent) {
    self.number = number
    self.at = at
    self.event = event
  }
}

/// The permanent, ordered log of the events of one run.
public protocol EventLedger: Sendable {
  /// Stores all events or none of them. The events are durable when the call returns.
  func append(_ events: [FleetEvent], at moment: WallClockTime) async throws(StorageFault)

  /// Returns all events, starting with the first.
  func history() async throws(StorageFault) -> [RecordedEvent]
}

extension FleetRun {
  /// Creates the state after all recorded events, starting with the first.
  public init(_ history: [RecordedEvent]) {
    self.init()
    for recorded in history { apply(recorded.event, at: recorded.at) }
  }
}
