import COtaflashTimeline

/// The thread that drives a timeline, and the detection of jobs that leave the timeline. The
/// runtime reports such a job when the job is enqueued elsewhere, so each run detects the same job
/// first.
enum TimelineThread {
  private static let hooks: Void = otaflash_timeline_install()

  /// Runs `body` while this thread drives the timeline with this number, 1 or more.
  static func drive<Value, Failure: Error>(
    _ timeline: UInt64, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    Self.hooks
    let former = otaflash_timeline_drive(timeline)
    defer { _ = otaflash_timeline_drive(former) }
    return try body()
  }

  /// Returns whether this thread drives the timeline with this number.
  static func drives(_ timeline: UInt64) -> Bool { otaflash_timeline_driven() == timeline }

  /// Returns how the first job of this thread has left the timeline since the last call; `nil` if
  /// no job has left it.
  static func takeDeparture() -> SimulationFault.Departure? {
    switch otaflash_timeline_take_departure() {
    case OTAFLASH_DEPARTURE_GLOBAL: .unstructuredTask
    case OTAFLASH_DEPARTURE_MAIN: .mainActor
    default: nil
    }
  }
}
