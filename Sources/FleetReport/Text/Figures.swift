import OtaflashATT
import OtaflashFleet
import OtaflashNumerals

/// Formatted numbers and times.
package enum Figures {
  /// Returns a text such as `1 device` or `12,000 devices`.
  package static func counted(_ count: Int, _ noun: String) -> String {
    "\(Numerals.grouped(count)) \(noun)\(count == 1 ? "" : "s")"
  }

  /// Returns a text such as `850 B/s`, `32.9 kB/s` or `1.2 MB/s`.
  package static func rate(_ bytesPerSecond: Double) -> String { scaled(bytesPerSecond) + "/s" }

  /// Returns a text such as `850 B`, `65.5 kB` or `1.2 MB`.
  package static func size(_ bytes: Int) -> String { scaled(Double(bytes)) }

  private static func scaled(_ value: Double) -> String {
    switch value {
    case ..<1000: "\(Int(value.rounded())) B"
    case ..<999_950: Numerals.fixed(value / 1000) + " kB"
    case ..<999_950_000: Numerals.fixed(value / 1_000_000) + " MB"
    default: Numerals.fixed(value / 1_000_000_000) + " GB"
    }
  }

  /// Returns a text such as `0.8 s`, `14 s`, `4 min 5 s`, `2 h 4 min`, `3 d 2 h` or `10 min`.
  package static func duration(_ milliseconds: Int64) -> String {
    let seconds = (milliseconds + 500) / 1000
    func pair(_ first: Int64, _ unit: String, _ second: Int64, _ other: String) -> String {
      second == 0 ? "\(first) \(unit)" : "\(first) \(unit) \(second) \(other)"
    }
    switch milliseconds {
    case ..<9950: return Numerals.fixed(Double(milliseconds) / 1000) + " s"
    case ..<59_500: return "\(seconds) s"
    case ..<3_599_500: return pair(seconds / 60, "min", seconds % 60, "s")
    case ..<86_370_000:
      let minutes = (milliseconds + 30_000) / 60_000
      return pair(minutes / 60, "h", minutes % 60, "min")
    default:
      let hours = (milliseconds + 1_800_000) / 3_600_000
      return pair(hours / 24, "d", hours % 24, "h")
    }
  }

  static func two(_ number: some BinaryInteger) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}

/// A moment as date and time of day (the proleptic Gregorian calendar, as in ISO 8601).
package struct CalendarTime {
  let year, month, day, hour, minute, second: Int

  /// - Parameter zone: the time zone.
  package init(_ moment: WallClockTime, in zone: ZoneOffsets = .utc) {
    let local = moment.milliseconds + Int64(zone.minutes(at: moment)) * 60_000
    let seconds = Int(local >= 0 ? local / 1000 : (local - 999) / 1000)
    let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    let rest = seconds - days * 86_400
    (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
    // Days from 1 March of year 0, in eras of 400 years (Hinnant, `civil_from_days`).
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The date, such as `22 Nov 2026`.
  package var dayWords: String { "\(day) \(Self.months[month - 1]) \(year)" }
  /// The date, such as `2026-11-22`.
  package var date: String { "\(year)-\(Figures.two(month))-\(Figures.two(day))" }
  /// The time of day, such as `14:05`.
  package var minutes: String { "\(Figures.two(hour)):\(Figures.two(minute))" }
  /// The time of day, such as `14:05:09`.
  package var clock: String { "\(minutes):\(Figures.two(second))" }

  /// Returns a moment in UTC, such as `2026-11-22T14:05:09Z`.
  static func text(_ moment: WallClockTime) -> String {
    let time = CalendarTime(moment)
    return "\(time.date)T\(time.clock)Z"
  }
}
