#if Sites
import OtaflashATT
import OtaflashGATT

/// The system's monotonic clock.
struct SystemClock: LinkClock {
  private static let start = ContinuousClock.now

  var now: LinkInstant { LinkInstant(elapsed: Self.start.duration(to: .now)) }
  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until deadline: LinkInstant, tolerance: Duration?) async throws {
    try await Task.sleep(until: Self.start.advanced(by: deadline.elapsed), clock: .continuous)
  }

  func randomFraction() -> Double { .random(in: 0..<1) }
}
#endif
