/// A date and a time without a time zone, in the proleptic Gregorian calendar.
public struct CalendarTime: Equatable, Sendable, CustomStringConvertible {
  /// The seconds since 1970-01-01T00:00:00; negative before.
  public let secondsSince1970: Int
  /// The milliseconds after the second, 0…999.
  public let milliseconds: Int

  private static let secondsPerDay = 86_400
  /// The years that Zephyr's server accepts (`os_mgmt.c`, RTC_DATETIME_YEAR_MIN and …_MAX).
  private static let years = 1900...11_899

  /// Creates a time from the seconds since 1970.
  public init(secondsSince1970: Int, milliseconds: Int = 0) {
    precondition(0...999 ~= milliseconds)
    self.secondsSince1970 = secondsSince1970
    self.milliseconds = milliseconds
  }

  /// Parses `yyyy-MM-ddTHH:mm:ss`, optionally followed by `.` and a number of milliseconds, and by
  /// `Z`. A space is permitted instead of `T`. Returns `nil` for other texts, for days that do not
  /// exist, and for years that Zephyr's server does not accept.
  public init?(_ text: some StringProtocol) {
    let pattern =
      /(\d{4,5})-(\d{1,2})-(\d{1,2})[T ](\d{1,2}):(\d{2}):(\d{2})(?:\.(\d{1,3}))?Z?/
    guard let match = String(text).wholeMatch(of: pattern)?.output,
      let year = Int(match.1), let month = Int(match.2), let day = Int(match.3),
      let hour = Int(match.4), let minute = Int(match.5), let second = Int(match.6),
      Self.years.contains(year), 1...12 ~= month,
      1...Self.days(inMonth: month, of: year) ~= day, 0...23 ~= hour, 0...59 ~= minute,
      0...59 ~= second
    else { return nil }
    secondsSince1970 =
      Self.daysSince1970(year, month, day) * Self.secondsPerDay + hour * 3600 + minute * 60 + second
    milliseconds = match.7.flatMap { Int($0) } ?? 0
  }

  /// The time without its milliseconds as `yyyy-MM-ddTHH:mm:ss`, the form that Zephyr's server
  /// parses.
  public var description: String {
    let days = Int((Double(secondsSince1970) / Double(Self.secondsPerDay)).rounded(.down))
    let rest = secondsSince1970 - days * Self.secondsPerDay
    let (year, month, day) = Self.date(daysSince1970: days)
    let date = "\(Self.padded(year, 4))-\(Self.padded(month))-\(Self.padded(day))"
    let time = [rest / 3600, rest / 60 % 60, rest % 60].map { Self.padded($0) }
    return date + "T" + time.joined(separator: ":")
  }

  private static func padded(_ number: Int, _ digits: Int = 2) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }

  private static func isLeap(_ year: Int) -> Bool {
    year.isMultiple(of: 4) && !year.isMultiple(of: 100) || year.isMultiple(of: 400)
  }

  private static func days(inMonth month: Int, of year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The number of days from 1970-01-01 to the first day of the year. 477 leap days precede 1970.
  private static func daysSince1970(_ year: Int) -> Int {
    let past = year - 1
    return (year - 1970) * 365 + past / 4 - past / 100 + past / 400 - 477
  }

  private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
    daysSince1970(year) + (1..<month).reduce(0) { $0 + days(inMonth: $1, of: year) } + day - 1
  }

  private static func date(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
    var year = 1970 + days / 366
    while daysSince1970(year + 1) <= days { year += 1 }
    while daysSince1970(year) > days { year -= 1 }
    var (month, rest) = (1, days - daysSince1970(year))
    while rest >= Self.days(inMonth: month, of: year) {
      rest -= Self.days(inMonth: month, of: year)
      month += 1
    }
    return (year, month, rest + 1)
  }
}
