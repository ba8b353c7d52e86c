import COtaflashTimeline

/// The thread that drives a timeline, and the jobs that leave it: the runtime reports them at the
/// moment at which they are enqueued elsewhere, so each run finds the same one first.
enum TimelineThread {
  private static let hooks: Void = otaflash_timeline_install()

  /// Runs `body` as the drive of the timeline with this number, 1 or more.
  static func drive<Value, Failure: Error>(
    _ timeline: UInt64, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    Self.hooks
    let former = otaflash_timeline_drive(timeline)
    defer { _ = otaflash_timeline_drive(former) }
    return try body()
  }

  /// Whether this thread drives the timeline with this number.
  static func drives(_ timeline: UInt64) -> Bool { otaflash_timeline_driven() == timeline }

  /// The way out that a job of this thread used first since the last call; `nil` when none did.
  static func takeDeparture() -> SimulationFault.Departure? {
    switch otaflash_timeline_take_departure() {
    case OTAFLASH_DEPARTURE_GLOBAL: .unstructuredTask
    case OTAFLASH_DEPARTURE_MAIN: .mainActor
    default: nil
    }
  }
}
