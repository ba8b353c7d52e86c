/// The number of attempts to restore a lost or failed connection, and the waits between them.
public struct ReconnectionStrategy: Sendable {
  private enum Growth: Sendable {
    case constant
    case linear
    case exponential
    case custom(@Sendable (Int) -> Duration?)
  }

  private let growth: Growth
  /// The wait before the first further attempt; zero if a closure determines the waits.
  public let base: Duration
  /// The longest wait. If a connection lasts longer than this wait, the count of attempts restarts.
  public let ceiling: Duration
  /// The maximum number of further attempts; 0 for `none`, and `Int.max` for no limit.
  public let attemptsMaximum: Int
  /// The largest fraction, 0…1, by which each wait is shortened at random, so that many hosts that
  /// lost the same device do not reconnect at the same time.
  public let jitter: Double

  /// Permits no further attempt.
  public static let none = ReconnectionStrategy(
    .constant, base: .zero, ceiling: .zero, attempts: 0, jitter: 0)

  /// Waits `wait` each time.
  ///
  /// - Parameters:
  ///   - wait: zero or more.
  ///   - attempts: the maximum number of further attempts; `Int.max` for no limit.
  ///   - jitter: 0…1, the largest fraction by which a wait is shortened at random.
  public static func constant(
    _ wait: Duration, attempts: Int = 8, jitter: Double = 0.2
  ) -> ReconnectionStrategy {
    ReconnectionStrategy(.constant, base: wait, ceiling: wait, attempts: attempts, jitter: jitter)
  }

  /// Waits `base`, 2 × `base`, 3 × `base`, …, at most `ceiling`.
  public static func linear(
    base: Duration = .milliseconds(500), ceiling: Duration = .seconds(10), attempts: Int = 8,
    jitter: Double = 0.2
  ) -> ReconnectionStrategy {
    ReconnectionStrategy(.linear, base: base, ceiling: ceiling, attempts: attempts, jitter: jitter)
  }

  /// Waits `base`, 2 × `base`, 4 × `base`, …, at most `ceiling`.
  public static func exponential(
    base: Duration = .milliseconds(250), ceiling: Duration = .seconds(10), attempts: Int = 8,
    jitter: Double = 0.2
  ) -> ReconnectionStrategy {
    ReconnectionStrategy(
      .exponential, base: base, ceiling: ceiling, attempts: attempts, jitter: jitter)
  }

  /// Waits for the duration that `wait` returns for further attempt 1, 2, …, at most `ceiling`; if
  /// `wait` returns `nil`, no further attempt is made.
  ///
  /// ```swift
  /// .custom(attempts: 10) { attempt in attempt < 4 ? .milliseconds(500) : .seconds(30) }
  /// ```
  public static func custom(
    ceiling: Duration = .seconds(60), attempts: Int = .max, jitter: Double = 0.2,
    _ wait: @escaping @Sendable (_ attempt: Int) -> Duration?
  ) -> ReconnectionStrategy {
    ReconnectionStrategy(
      .custom(wait), base: .zero, ceiling: ceiling, attempts: attempts, jitter: jitter)
  }

  private init(
    _ growth: Growth, base: Duration, ceiling: Duration, attempts: Int, jitter: Double
  ) {
    precondition(attempts >= 0 && (0...1).contains(jitter))
    precondition(base >= .zero && ceiling >= .zero)
    self.growth = growth
    self.base = base
    self.ceiling = ceiling
    attemptsMaximum = attempts
    self.jitter = jitter
  }

  /// Returns the wait before further attempt `attempt` (1, 2, …); `nil` if this attempt is not
  /// permitted.
  ///
  /// - Parameters:
  ///   - attempt: the number of the further attempt, 1 or more.
  ///   - random: a number, 0 ..< 1. The caller passes the number, so that a simulation can repeat
  ///   the result.
  public func delay(beforeAttempt attempt: Int, random: Double) -> Duration? {
    precondition(attempt >= 1)
    guard attempt <= attemptsMaximum else { return nil }
    let whole: Duration
    switch growth {
    case .constant: whole = base
    case .linear: whole = base * attempt
    // A larger shift would overflow; 2^30 × 1 ms is 12 days, longer than any useful ceiling.
    case .exponential: whole = base * (1 << min(attempt - 1, 30))
    case .custom(let wait):
      guard let said = wait(attempt) else { return nil }
      whole = max(said, .zero)
    }
    return min(whole, ceiling) * (1 - jitter * random)
  }

  /// Returns the number of attempts left after `attempt` has failed; `Int.max` for no limit.
  func remaining(after attempt: Int) -> Int {
    attemptsMaximum == .max ? .max : max(attemptsMaximum - attempt, 0)
  }
}
