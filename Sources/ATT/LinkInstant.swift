/// A moment on the clock of a link: the time since that clock's own start.
///
/// Real and simulated clocks share this type, so that deadlines are plain values that a pure state
/// machine can hold and compare.
public struct LinkInstant: InstantProtocol, Hashable, Sendable {
  /// Time since the clock's start.
  public let elapsed: Duration

  /// The moment `elapsed` after the clock's beginning.
  public init(elapsed: Duration) { self.elapsed = elapsed }

  /// The clock's start.
  public static let start = LinkInstant(elapsed: .zero)

  /// The moment `duration` later.
  public func advanced(by duration: Duration) -> LinkInstant {
    LinkInstant(elapsed: elapsed + duration)
  }

  /// The time from here to `other`; negative where that is earlier.
  public func duration(to other: LinkInstant) -> Duration { other.elapsed - elapsed }

  public static func < (left: LinkInstant, right: LinkInstant) -> Bool {
    left.elapsed < right.elapsed
  }
}
