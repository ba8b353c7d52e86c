/// An event with its place in the run.
package struct RecordedEvent: Hashable, Sendable {
  /// 1, 2, … in the run.
  package let number: Int
  package let at: WallClockTime
  package let event: FleetEvent

  package init(number: Int, at: WallClockTime, event: FleetEvent) {
    self.number = number
    self.at = at
    self.event = event
  }
}

/// Where the events of one run are kept, for ever and in their order.
package protocol EventLedger: Sendable {
  /// Keeps the events, all of them or none. What has returned lasts.
  func append(_ events: [FleetEvent], at moment: WallClockTime) async throws(StorageFault)

  /// All of them, from the first on.
  func history() async throws(StorageFault) -> [RecordedEvent]
}

extension FleetRun {
  package init(_ history: [RecordedEvent]) {
    self.init()
    for recorded in history { apply(recorded.event, at: recorded.at) }
  }
}
