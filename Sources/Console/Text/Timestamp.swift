import Glibc

package enum Timestamp {
  /// Returns the present time in UTC, such as `2026-11-21T12:00:00.000Z` (RFC 3339).
  package static func now() -> String {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return text(seconds: time.tv_sec, milliseconds: time.tv_nsec / 1_000_000)
  }

  /// Returns the seconds since 1970, for values stored on disk.
  package static func secondsSince1970() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Returns a time in the past for display: `12 s ago`, `5 min ago`, `3 h ago`, `4 days ago`;
  /// after two weeks the date, in UTC.
  ///
  /// - Parameters:
  ///   - seconds: the seconds since 1970.
  ///   - now: the present time in the same unit.
  package static func ago(_ seconds: Double, now: Double = secondsSince1970()) -> String {
    let age = now - seconds
    switch age {
    case ..<1: return "just now"
    case ..<120: return "\(Int(age)) s ago"
    case ..<7_200: return "\(Int(age / 60)) min ago"
    case ..<172_800: return "\(Int(age / 3_600)) h ago"
    case ..<1_209_600: return "\(Int(age / 86_400)) days ago"
    default: return String(text(seconds).prefix(10))
    }
  }

  /// Returns the present time of day in the local time zone, such as `12:00:00.000`.
  package static func timeOfDay() -> String {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    var fields = tm()
    localtime_r(&time.tv_sec, &fields)
    func two(_ value: Int32) -> String { Text.padded(String(value), 2) }
    return "\(two(fields.tm_hour)):\(two(fields.tm_min)):\(two(fields.tm_sec))."
      + Text.padded(String(time.tv_nsec / 1_000_000), 3)
  }

  package static func text(_ secondsSince1970: Double) -> String {
    text(milliseconds: Int((secondsSince1970 * 1000).rounded(.down)))
  }

  /// Returns a time in UTC as text.
  ///
  /// - Parameter milliseconds: the milliseconds since 1970; negative if the clock is wrong.
  package static func text(milliseconds: Int) -> String {
    let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    return rest < 0
      ? text(seconds: seconds - 1, milliseconds: rest + 1000)
      : text(seconds: seconds, milliseconds: rest)
  }

  package static func text(seconds: Int, milliseconds: Int) -> String {
    var seconds = time_t(seconds)
    var fields = tm()
    gmtime_r(&seconds, &fields)
    func two(_ value: Int32) -> String { Text.padded(String(value), 2) }
    return "\(fields.tm_year + 1900)-\(two(fields.tm_mon + 1))-\(two(fields.tm_mday))T"
      + "\(two(fields.tm_hour)):\(two(fields.tm_min)):\(two(fields.tm_sec))."
      + Text.padded(String(milliseconds), 3) + "Z"
  }
}
