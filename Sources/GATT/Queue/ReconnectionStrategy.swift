/// How often and how long apart a lost or failed connection is tried again.
public struct ReconnectionStrategy: Sendable {
  private enum Growth: Sendable {
    case constant
    case linear
    case exponential
    case custom(@Sendable (Int) -> Duration?)
  }

  private let growth: Growth
  /// The wait before the first further attempt; zero where a closure says it.
  public let base: Duration
  /// No wait is longer than this, and a connection that lasts longer starts the count over.
  public let ceiling: Duration
  /// The most further attempts; 0 for `none`, `Int.max` for no bound.
  public let attemptsMaximum: Int
  /// Each wait is shortened by a random part of up to this fraction, 0…1, so that many hosts that
  /// lost the same device do not come back in step.
  public let jitter: Double

  /// No further attempt.
  public static let none = ReconnectionStrategy(
    .constant, base: .zero, ceiling: .zero, attempts: 0, jitter: 0)

  /// Waits `wait` each time.
  ///
  /// - Parameters:
  ///   - wait: zero or more.
  ///   - attempts: `Int.max` tries for ever.
  ///   - jitter: 0…1: the largest part by which chance shortens a wait.
  public static func constant(
    _ wait: Duration, attempts: Int = 8, jitter: Double = 0.2
  ) -> ReconnectionStrategy {
    ReconnectionStrategy(.constant, base: wait, ceiling: wait, attempts: attempts, jitter: jitter)
  }

  /// Waits `base`, 2 × `base`, 3 × `base`, …
  public static func linear(
    base: Duration = .milliseconds(500), ceiling: Duration = .seconds(10), attempts: Int = 8,
    jitter: Double = 0.2
  ) -> ReconnectionStrategy {
    ReconnectionStrategy(.linear, base: base, ceiling: ceiling, attempts: attempts, jitter: jitter)
  }

  /// Waits `base`, 2 × `base`, 4 × `base`, …
  public static func exponential(
    base: Duration = .milliseconds(250), ceiling: Duration = .seconds(10), attempts: Int = 8,
    jitter: Double = 0.2
  ) -> ReconnectionStrategy {
    ReconnectionStrategy(
      .exponential, base: base, ceiling: ceiling, attempts: attempts, jitter: jitter)
  }

  /// Waits what `wait` says before further attempt 1, 2, …, within the bounds; `nil` gives up.
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

  /// The wait before further attempt `attempt` (1, 2, …), or `nil` when the bound is reached.
  ///
  /// - Parameters:
  ///   - attempt: 1 or more.
  ///   - random: 0 ..< 1; the caller's, so that a simulation can replay it.
  public func delay(beforeAttempt attempt: Int, random: Double) -> Duration? {
    precondition(attempt >= 1)
    guard attempt <= attemptsMaximum else { return nil }
    let whole: Duration
    switch growth {
    case .constant: whole = base
    case .linear: whole = base * attempt
    // 2^30 × any base is beyond every ceiling; a larger shift would overflow.
    case .exponential: whole = base * (1 << min(attempt - 1, 30))
    case .custom(let wait):
      guard let said = wait(attempt) else { return nil }
      whole = max(said, .zero)
    }
    return min(whole, ceiling) * (1 - jitter * random)
  }

  /// How many attempts there may still be when `attempt` has failed; `Int.max` without a bound.
  func remaining(after attempt: Int) -> Int {
    attemptsMaximum == .max ? .max : max(attemptsMaximum - attempt, 0)
  }
}
