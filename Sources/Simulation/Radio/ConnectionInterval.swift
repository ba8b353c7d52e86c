/// The time between the anchors of two connection events: 7.5 ms…4 s in steps of 1.25 ms (Core 5.4,
/// Vol 6, Part B, 4.5.1).
public struct ConnectionInterval: Hashable, Sendable {
  static let stepMicroseconds = 1250

  /// The interval in microseconds, a multiple of 1,250 in the range 7,500…4,000,000.
  public let microseconds: Int

  /// Returns `nil` outside 7,500…4,000,000 µs, or for a value that is not a multiple of 1,250 µs.
  public init?(microseconds: Int) {
    guard (7_500...4_000_000).contains(microseconds),
      microseconds.isMultiple(of: Self.stepMicroseconds)
    else { return nil }
    self.microseconds = microseconds
  }

  private init(steps: Int) { microseconds = steps * Self.stepMicroseconds }

  /// 7.5 ms, the shortest permitted interval.
  public static let shortest = ConnectionInterval(steps: 6)
  /// 15 ms.
  public static let milliseconds15 = ConnectionInterval(steps: 12)
  /// 30 ms.
  public static let milliseconds30 = ConnectionInterval(steps: 24)
  /// 50 ms.
  public static let milliseconds50 = ConnectionInterval(steps: 40)

  /// The interval as a duration.
  public var duration: Duration { .microseconds(microseconds) }
}
