/// The times at which transfers may start: between two times of day on certain days of the week,
/// and between two dates.
package struct TransferWindow: Hashable, Sendable, Codable {
  package enum Weekday: Int, Hashable, Sendable, Codable, CaseIterable {
    case monday = 0
    case tuesday, wednesday, thursday, friday, saturday, sunday
  }

  /// The treatment of a running transfer when the window closes.
  package enum AtEnd: String, Hashable, Sendable, Codable, CaseIterable {
    /// The transfer continues to its end.
    case finish
    /// The transfer is interrupted at a point from which it can be resumed.
    case breakOff = "break-off"
  }

  static let dayMinutes = 24 * 60

  /// The days on which the window opens.
  package var days: Set<Weekday>
  /// The opening time in minutes from midnight, 0…1439.
  package var opens: Int
  /// The closing time in minutes from midnight, 1…1440. It is on the next day if it is not after
  /// `opens`.
  package var closes: Int
  package var zone: ZoneOffsets
  package var atEnd: AtEnd
  package var notBefore: WallClockTime?
  package var notAfter: WallClockTime?

  package init(
    days: Set<Weekday> = Set(Weekday.allCases), opens: Int = 0,
    closes: Int = TransferWindow.dayMinutes, zone: ZoneOffsets = .utc, atEnd: AtEnd = .finish,
    notBefore: WallClockTime? = nil, notAfter: WallClockTime? = nil
  ) {
    self.days = days
    self.opens = opens
    self.closes = closes
    self.zone = zone
    self.atEnd = atEnd
    self.notBefore = notBefore
    self.notAfter = notAfter
  }

  /// The state of a window, and the time of its next change.
  package enum Standing: Hashable, Sendable {
    /// The window is open until a time; `nil` = indefinitely.
    case open(until: WallClockTime?)
    case closed(until: WallClockTime)
    /// The window does not open again.
    case over
  }

  /// The maximum number of days to the next opening: a week, plus one day for clock changes.
  private static let daysAhead = 8

  package func standing(at now: WallClockTime) -> Standing {
    if let notAfter, now >= notAfter { return .over }
    let from = notBefore.map { max($0, now) } ?? now
    guard days.count < Weekday.allCases.count || closes - opens < Self.dayMinutes else {
      return from > now ? .closed(until: from) : .open(until: notAfter)
    }
    for span in spans(around: from) where span.end > from {
      if let notAfter, span.start >= notAfter { return .over }
      let begins = max(span.start, from)
      guard begins <= now else { return .closed(until: begins) }
      return .open(until: notAfter.map { min($0, span.end) } ?? span.end)
    }
    return .over
  }

  private struct Span {
    let start: WallClockTime
    var end: WallClockTime
  }

  /// Returns the periods in which the window is open, from the day before `moment`; adjacent
  /// periods are merged.
  private func spans(around moment: WallClockTime) -> [Span] {
    let today = zone.localMinutes(at: moment).flooringDivision(by: Self.dayMinutes)
    var spans: [Span] = []
    for day in (today - 1)...(today + Int64(Self.daysAhead))
    where days.contains(Weekday(ofDay: day)) {
      let length = closes > opens ? closes - opens : closes - opens + Self.dayMinutes
      let start = day * Int64(Self.dayMinutes) + Int64(opens)
      let span = Span(
        start: zone.moment(ofLocalMinutes: start),
        end: zone.moment(ofLocalMinutes: start + Int64(length)))
      if let last = spans.last, last.end >= span.start {
        spans[spans.count - 1].end = span.end
      } else {
        spans.append(span)
      }
    }
    return spans
  }
}

extension TransferWindow.Weekday {
  /// Creates the weekday of a day number; day 0, 1970-01-01, was a Thursday.
  init(ofDay day: Int64) {
    let index = Int((day + 3).flooringRemainder(by: 7))
    self = Self.allCases[index]
  }
}

/// The UTC offsets of a time zone, and the times of their changes.
package struct ZoneOffsets: Hashable, Sendable, Codable {
  package struct Change: Hashable, Sendable, Codable {
    package let at: WallClockTime
    /// The new offset in minutes, −1439…1439.
    package let minutes: Int

    package init(at: WallClockTime, minutes: Int) {
      self.at = at
      self.minutes = minutes
    }
  }

  package static let utc = ZoneOffsets(minutes: 0)

  /// The name in the campaign; `nil` = the campaign states the offset instead.
  package let name: String?
  private let first: Int
  private let changes: [Change]

  /// - Parameters:
  ///   - minutes: the offset before the first change.
  ///   - changes: the changes, in any order.
  ///   - name: the name of the zone, such as `Europe/Berlin`.
  package init(minutes: Int, changes: [Change] = [], name: String? = nil) {
    self.name = name
    first = minutes
    self.changes = changes.sorted { $0.at < $1.at }
  }

  package func minutes(at moment: WallClockTime) -> Int {
    changes.last { $0.at <= moment }?.minutes ?? first
  }

  /// Returns the minutes since 1970-01-01 00:00 in local time.
  func localMinutes(at moment: WallClockTime) -> Int64 {
    moment.milliseconds.flooringDivision(by: 60_000) + Int64(minutes(at: moment))
  }

  /// Returns the moment of a local time in minutes since 1970. A local time that a clock change
  /// skips uses the offset before the change; a repeated local time refers to its first occurrence.
  func moment(ofLocalMinutes local: Int64) -> WallClockTime {
    let earlier = WallClockTime(milliseconds: (local - Int64(dayBefore)) * 60_000)
    let before = minutes(at: earlier)
    let guess = WallClockTime(milliseconds: (local - Int64(before)) * 60_000)
    let after = minutes(at: guess)
    guard after != before else { return guess }
    let other = WallClockTime(milliseconds: (local - Int64(after)) * 60_000)
    return minutes(at: other) == after ? other : guess
  }

  private var dayBefore: Int { TransferWindow.dayMinutes }

  /// Returns the name of the zone, or its offset if it has no name: `Europe/Berlin`, `+05:30` or
  /// `UTC`.
  package func label(at moment: WallClockTime) -> String {
    if let name { return name }
    let minutes = minutes(at: moment)
    guard minutes != 0 else { return "UTC" }
    return (minutes < 0 ? "-" : "+") + TransferWindow.clock(abs(minutes))
  }
}

extension TransferWindow {
  /// Returns the time of day, such as `02:00`, for a number of minutes.
  package static func clock(_ minutes: Int) -> String {
    [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  /// Encodes the days in sorted order, so that equal windows have equal texts.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(days.map(\.rawValue).sorted(), forKey: .days)
    try container.encode(opens, forKey: .opens)
    try container.encode(closes, forKey: .closes)
    try container.encode(zone, forKey: .zone)
    try container.encode(atEnd, forKey: .atEnd)
    try container.encodeIfPresent(notBefore, forKey: .notBefore)
    try container.encodeIfPresent(notAfter, forKey: .notAfter)
  }

  /// Whether the times of day and the zone are in range.
  var isSound: Bool {
    (0..<Self.dayMinutes).contains(opens) && (1...Self.dayMinutes).contains(closes)
      && zone.isSound
  }
}

extension ZoneOffsets {
  fileprivate var isSound: Bool {
    ([first] + changes.map(\.minutes)).allSatisfy { abs($0) < TransferWindow.dayMinutes }
  }
}

extension Int64 {
  func flooringDivision(by divisor: Int) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: Int64(divisor))
    return remainder < 0 ? quotient - 1 : quotient
  }

  func flooringRemainder(by divisor: Int) -> Int64 {
    let remainder = self % Int64(divisor)
    return remainder < 0 ? remainder + Int64(divisor) : remainder
  }
}
