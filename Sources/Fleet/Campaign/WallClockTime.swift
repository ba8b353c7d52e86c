/// A moment of the wall's clock: whole milliseconds since 1970-01-01T00:00:00Z. What a run records
/// must mean the same to the process that goes on with it, so no clock of one boot will do.
public struct WallClockTime: Hashable, Comparable, Sendable, Codable {
  /// What a stored time may be: some 36 million years, so that sums of times cannot overflow.
  package static let range: ClosedRange<Int64> = -(1 << 60)...(1 << 60)

  public let milliseconds: Int64

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  public static func < (left: WallClockTime, right: WallClockTime) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// The moment `duration` later, to the millisecond; the fraction is dropped.
  public func advanced(by duration: Duration) -> WallClockTime {
    WallClockTime(milliseconds: milliseconds + duration.wholeMilliseconds)
  }

  /// The time from here to `other`; negative where that is earlier.
  public func duration(to other: WallClockTime) -> Duration {
    .milliseconds(other.milliseconds - milliseconds)
  }

  /// As a number, which is what every stored form of it is.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    milliseconds = try container.decode(Int64.self)
    guard Self.range.contains(milliseconds) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\(milliseconds) is not a time")
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(milliseconds)
  }
}

extension Duration {
  /// Without the fraction of a millisecond.
  package var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}
