import OtaflashGATT

/// The clock of the Swift runtime.
public struct SystemClock: LinkClock {
  private static let start = ContinuousClock.now

  public init() {}

  public var now: LinkInstant { LinkInstant(elapsed: Self.start.duration(to: .now)) }

  public var minimumResolution: Duration { .nanoseconds(1) }

  public func sleep(until deadline: LinkInstant, tolerance: Duration?) async throws {
    try await ContinuousClock().sleep(
      until: Self.start.advanced(by: deadline.elapsed), tolerance: tolerance)
  }

  public func randomFraction() -> Double { .random(in: 0..<1) }
}
