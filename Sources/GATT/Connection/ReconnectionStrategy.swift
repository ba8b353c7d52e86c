/// How often and how long apart a lost or failed connection is tried again.
public struct ReconnectionStrategy: Equatable, Sendable {
  private enum Growth: Equatable, Sendable {
    case none
    case linear
    case exponential
  }

  private let growth: Growth
  /// The wait before the first further attempt.
  public let base: Duration
  /// No wait is longer than this.
  public let ceiling: Duration
  /// The most further attempts; 0 for `none`.
  public let attemptsMaximum: Int
  /// Each wait is shortened by a random part of up to this fraction, 0…1, so that many hosts that
  /// lost the same device do not come back in step.
  public let jitter: Double

  /// No further attempt.
  public static let none = ReconnectionStrategy(
    growth: .none, base: .zero, ceiling: .zero, attemptsMaximum: 0, jitter: 0)

  /// Waits `base`, 2 × `base`, 3 × `base`, …
  public static func linear(
    base: Duration = .milliseconds(500), ceiling: Duration = .seconds(10), attempts: Int = 8,
    jitter: Double = 0.2
  ) -> ReconnectionStrategy {
    ReconnectionStrategy(
      growth: .linear, base: base, ceiling: ceiling, attemptsMaximum: attempts, jitter: jitter)
  }

  /// Waits `base`, 2 × `base`, 4 × `base`, …
  public static func exponential(
    base: Duration = .milliseconds(250), ceiling: Duration = .seconds(10), attempts: Int = 8,
    jitter: Double = 0.2
  ) -> ReconnectionStrategy {
    ReconnectionStrategy(
      growth: .exponential, base: base, ceiling: ceiling, attemptsMaximum: attempts,
      jitter: jitter)
  }

  private init(
    growth: Growth, base: Duration, ceiling: Duration, attemptsMaximum: Int, jitter: Double
  ) {
    precondition(attemptsMaximum >= 0 && (0...1).contains(jitter))
    precondition(base >= .zero && ceiling >= .zero)
    self.growth = growth
    self.base = base
    self.ceiling = ceiling
    self.attemptsMaximum = attemptsMaximum
    self.jitter = jitter
  }

  /// The wait before further attempt `attempt` (1, 2, …), or `nil` when the bound is reached.
  ///
  /// - Parameter random: 0 ..< 1; the caller's, so that a simulation can replay it.
  public func delay(beforeAttempt attempt: Int, random: Double) -> Duration? {
    precondition(attempt >= 1)
    guard attempt <= attemptsMaximum else { return nil }
    let whole: Duration =
      switch growth {
      case .none: .zero
      case .linear: base * attempt
      // 2^30 × any base is beyond every ceiling; a larger shift would overflow.
      case .exponential: base * (1 << min(attempt - 1, 30))
      }
    return min(whole, ceiling) * (1 - jitter * random)
  }
}
