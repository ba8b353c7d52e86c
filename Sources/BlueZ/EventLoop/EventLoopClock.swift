import OtaflashATT
import OtaflashGATT

/// The kernel's monotonic clock, with the timers of the event loop. The time is zero at the first
/// use of the clock in the process.
public struct EventLoopClock: LinkClock {
  private static let origin = EventLoop.shared.now.elapsed

  /// Creates the clock of the process; all instances are equal.
  public init() {}

  /// The time since the first use in the process.
  public var now: LinkInstant { LinkInstant(elapsed: EventLoop.shared.now.elapsed - Self.origin) }

  /// The resolution of the kernel's timer.
  public var minimumResolution: Duration { .nanoseconds(1) }

  public func randomFraction() -> Double { Double.random(in: 0..<1) }

  /// Sleeps at least until `deadline`; `tolerance` is not used.
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public func sleep(until deadline: LinkInstant, tolerance: Duration?) async throws {
    let moment = LinkInstant(elapsed: deadline.elapsed + Self.origin)
    guard await EventLoop.shared.sleep(until: moment) else { throw CancellationError() }
  }
}
