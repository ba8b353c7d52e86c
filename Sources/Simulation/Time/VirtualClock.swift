import OtaflashATT
import OtaflashGATT

/// The clock of a `VirtualTimeline`: it stops while jobs run and jumps from timer to timer.
public struct VirtualClock: LinkClock {
  private let timeline: VirtualTimeline

  init(timeline: VirtualTimeline) { self.timeline = timeline }

  /// The current time of the timeline.
  public var now: LinkInstant { timeline.now }

  /// The executor of the simulation, for tasks that are not children of its body. Pass it as
  /// `executorPreference` to the task's initializer.
  public var executor: VirtualTimeline { timeline }

  /// The resolution of the timeline.
  public var minimumResolution: Duration { .nanoseconds(1) }

  public func randomFraction() -> Double { timeline.randomFraction() }

  /// Sleeps to `deadline` exactly; virtual time needs no tolerance.
  public func sleep(until deadline: LinkInstant, tolerance: Duration?) async throws {
    guard await timeline.sleep(until: deadline) else { throw CancellationError() }
  }
}
