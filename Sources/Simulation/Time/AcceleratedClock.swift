import OtaflashATT
import OtaflashGATT

/// A clock on which a second passes in less than one: simulated devices, and the host's code beside
/// them, live through an hour while somebody watches for a minute. Both sides must have it.
package struct AcceleratedClock: LinkClock {
  private let base: any LinkClock
  private let began: LinkInstant
  private let speed: Int

  /// Starts where `base` is.
  ///
  /// - Parameters:
  ///   - base: the clock that is followed.
  ///   - speed: seconds that pass in one of its own, 1 or more. What waits often cannot follow any
  ///     speed: it then falls behind its deadlines, and no time is lost.
  package init(_ base: any LinkClock, speed: Int) {
    precondition(speed >= 1, "a clock that is accelerated goes no slower")
    self.base = base
    self.speed = speed
    began = base.now
  }

  package var now: LinkInstant { began.advanced(by: began.duration(to: base.now) * speed) }

  package var minimumResolution: Duration { base.minimumResolution * speed }

  package func randomFraction() -> Double { base.randomFraction() }

  package func sleep(until deadline: LinkInstant, tolerance: Duration?) async throws {
    let moment = began.advanced(by: began.duration(to: deadline) / speed)
    // Rounded down: never later than asked, and `now` may then be a little before the deadline.
    try await base.sleep(
      until: moment.advanced(by: .nanoseconds(1)), tolerance: tolerance.map { $0 / speed })
  }
}
