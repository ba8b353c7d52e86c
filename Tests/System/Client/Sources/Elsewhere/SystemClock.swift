import OtaflashGATT

/// The clock of the Swift runtime, for systems without the library's event loop.
public struct SystemClock: LinkClock {
  private static let origin = ContinuousClock.now

  public init() {}

  public var now: LinkInstant { LinkInstant(elapsed: Self.origin.duration(to: .now)) }

  public var minimumResolution: Duration { .nanoseconds(1) }

  public func sleep(until deadline: LinkInstant, tolerance: Duration?) async throws {
    let moment = Self.origin.advanced(by: deadline.elapsed)
    try await ContinuousClock().sleep(until: moment, tolerance: tolerance)
  }

  public func randomFraction() -> Double { .random(in: 0..<1) }
}
