import OtaflashATT
import OtaflashGATT

/// A clock that runs faster than its base: at a speed of 60, an hour of simulated devices and host
/// code takes a minute. Devices and host must use the same clock.
package struct AcceleratedClock: LinkClock {
  private let base: any LinkClock
  private let began: LinkInstant
  private let speed: Int

  /// Creates a clock that starts at the time of `base`.
  ///
  /// - Parameters:
  ///   - base: the base clock.
  ///   - speed: seconds per second of `base`, 1 or more. Code with frequent waits reaches a lower
  ///     speed: it misses its deadlines, but loses no simulated time.
  package init(_ base: any LinkClock, speed: Int) {
    precondition(speed >= 1, "an accelerated clock must not be slower")
    self.base = base
    self.speed = speed
    began = base.now
  }

  package var now: LinkInstant { began.advanced(by: began.duration(to: base.now) * speed) }

  package var minimumResolution: Duration { base.minimumResolution * speed }

  package func randomFraction() -> Double { base.randomFraction() }

  package func sleep(until deadline: LinkInstant, tolerance: Duration?) async throws {
    let moment = began.advanced(by: began.duration(to: deadline) / speed)
    // The division rounds down. Without the additional nanosecond, `now` could still be slightly
    // before the deadline.
    try await base.sleep(
      until: moment.advanced(by: .nanoseconds(1)), tolerance: tolerance.map { $0 / speed })
  }
}
