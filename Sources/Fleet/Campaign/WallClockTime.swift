/// A wall-clock time: whole milliseconds since 1970-01-01T00:00:00Z. The times in a run must also
/// be valid for the next process of the run, so the monotonic clock, which restarts at each boot,
/// is not sufficient.
public struct WallClockTime: Hashable, Comparable, Sendable, Codable {
  /// The range of a stored time: about 36 million years, so that sums of times cannot overflow.
  package static let range: ClosedRange<Int64> = -(1 << 60)...(1 << 60)

  /// Milliseconds since 1970-01-01T00:00:00Z.
  public let milliseconds: Int64

  /// Creates a time from milliseconds since 1970-01-01T00:00:00Z.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// Returns whether the left time is earlier.
  public static func < (left: WallClockTime, right: WallClockTime) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// Returns the time after `duration`, truncated to milliseconds.
  public func advanced(by duration: Duration) -> WallClockTime {
    WallClockTime(milliseconds: milliseconds + duration.wholeMilliseconds)
  }

  /// Returns the duration to `other`; negative if `other` is earlier.
  public func duration(to other: WallClockTime) -> Duration {
    .milliseconds(other.milliseconds - milliseconds)
  }

  /// Decodes a number, the stored form of a time.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    milliseconds = try container.decode(Int64.self)
    guard Self.range.contains(milliseconds) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\(milliseconds) is not a time")
    }
  }

  /// Encodes the time as a number.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(milliseconds)
  }
}

extension Duration {
  /// The duration in milliseconds, truncated.
  package var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}
