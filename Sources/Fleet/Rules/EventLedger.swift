/// An event with its place in the run.
public struct RecordedEvent: Hashable, Sendable {
  /// 1, 2, … in the run.
  public let number: Int
  public let at: WallClockTime
  public let event: FleetEvent

  public init(number: Int, at: WallClockTime, event: FleetEvent) {
    self.number = number
    self.at = at
    self.event = event
  }
}

/// Where the events of one run are kept, for ever and in their order.
public protocol EventLedger: Sendable {
  /// Keeps the events, all of them or none. What has returned lasts.
  func append(_ events: [FleetEvent], at moment: WallClockTime) async throws(StorageFault)

  /// All of them, from the first on.
  func history() async throws(StorageFault) -> [RecordedEvent]
}

extension FleetRun {
  public init(_ history: [RecordedEvent]) {
    self.init()
    for recorded in history { apply(recorded.event, at: recorded.at) }
  }
}
