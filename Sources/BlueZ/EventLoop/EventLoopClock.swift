import OtaflashATT
import OtaflashGATT

/// The kernel's monotonic clock, with the event loop's timers. It starts at zero when the process
/// first asks for it.
public struct EventLoopClock: LinkClock {
  private static let origin = EventLoop.shared.now.elapsed

  /// The clock of the process; all of them are the same.
  public init() {}

  /// The time since a moment of the process's own.
  public var now: LinkInstant { LinkInstant(elapsed: EventLoop.shared.now.elapsed - Self.origin) }

  /// What the kernel's timer can tell apart.
  public var minimumResolution: Duration { .nanoseconds(1) }

  public func randomFraction() -> Double { Double.random(in: 0..<1) }

  /// Sleeps until `deadline`, never shorter; `tolerance` is not used.
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public func sleep(until deadline: LinkInstant, tolerance: Duration?) async throws {
    let moment = LinkInstant(elapsed: deadline.elapsed + Self.origin)
    guard await EventLoop.shared.sleep(until: moment) else { throw CancellationError() }
  }
}
