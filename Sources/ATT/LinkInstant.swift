/// An instant on the clock of a link: the time since the start of that clock.
///
/// Real and simulated clocks use the same type, so deadlines are plain values, which a state
/// machine without side effects can store and compare.
public struct LinkInstant: InstantProtocol, Hashable, Sendable {
  /// Time since the clock's start.
  public let elapsed: Duration

  /// Creates the instant `elapsed` after the clock's start.
  public init(elapsed: Duration) { self.elapsed = elapsed }

  /// The clock's start.
  public static let start = LinkInstant(elapsed: .zero)

  /// Returns the instant `duration` later.
  public func advanced(by duration: Duration) -> LinkInstant {
    LinkInstant(elapsed: elapsed + duration)
  }

  /// Returns the time from this instant to `other`; the time is negative if `other` is earlier.
  public func duration(to other: LinkInstant) -> Duration { other.elapsed - elapsed }

  public static func < (left: LinkInstant, right: LinkInstant) -> Bool {
    left.elapsed < right.elapsed
  }
}
