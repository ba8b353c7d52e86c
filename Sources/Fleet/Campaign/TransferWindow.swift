/// The times in which transfers may begin: on some days of the week between two times of day, and
/// within two moments.
package struct TransferWindow: Hashable, Sendable, Codable {
  package enum Weekday: Int, Hashable, Sendable, Codable, CaseIterable {
    case monday = 0
    case tuesday, wednesday, thursday, friday, saturday, sunday
  }

  /// What becomes of a transfer that runs when the window closes.
  package enum AtEnd: String, Hashable, Sendable, Codable, CaseIterable {
    /// It goes on to its end.
    case finish
    /// It is ended where the device keeps what it has.
    case breakOff = "break-off"
  }

  static let dayMinutes = 24 * 60

  /// The days on which it opens.
  package var days: Set<Weekday>
  /// In minutes from midnight, 0…1439.
  package var opens: Int
  /// In minutes from midnight, 1…1440. Not after `opens` means: on the next day.
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

  /// Whether a transfer may begin, and until when that stays so.
  package enum Standing: Hashable, Sendable {
    /// Until then; `nil` = for ever.
    case open(until: WallClockTime?)
    case closed(until: WallClockTime)
    /// It opens no more.
    case over
  }

  /// The longest time to the next opening: a week, and the hours by which clocks are changed.
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

  /// The openings from the day before `moment` on, those that touch put together.
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
  /// Day 0, 1970-01-01, was a Thursday.
  init(ofDay day: Int64) {
    let index = Int((day + 3).flooringRemainder(by: 7))
    self = Self.allCases[index]
  }
}

/// How far a place's clocks are ahead of UTC, and when that changes.
package struct ZoneOffsets: Hashable, Sendable, Codable {
  package struct Change: Hashable, Sendable, Codable {
    package let at: WallClockTime
    /// From then on, in minutes, −1439…1439.
    package let minutes: Int

    package init(at: WallClockTime, minutes: Int) {
      self.at = at
      self.minutes = minutes
    }
  }

  package static let utc = ZoneOffsets(minutes: 0)

  /// As the campaign names it; `nil` = by its offset.
  package let name: String?
  private let first: Int
  private let changes: [Change]

  /// - Parameters:
  ///   - minutes: before the first change.
  ///   - changes: in the order of time.
  ///   - name: such as `Europe/Berlin`.
  package init(minutes: Int, changes: [Change] = [], name: String? = nil) {
    self.name = name
    first = minutes
    self.changes = changes.sorted { $0.at < $1.at }
  }

  package func minutes(at moment: WallClockTime) -> Int {
    changes.last { $0.at <= moment }?.minutes ?? first
  }

  /// Minutes of the place's own clock since its 1970.
  func localMinutes(at moment: WallClockTime) -> Int64 {
    moment.milliseconds.flooringDivision(by: 60_000) + Int64(minutes(at: moment))
  }

  /// The moment at which the place's clock shows so many minutes since 1970. A time that the clock
  /// leaves out is taken by the offset before the change, one that it shows twice by the first.
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

  /// `Europe/Berlin`, `+05:30` or `UTC`: as the zone is named, else by its offset.
  package func label(at moment: WallClockTime) -> String {
    if let name { return name }
    let minutes = minutes(at: moment)
    guard minutes != 0 else { return "UTC" }
    return (minutes < 0 ? "-" : "+") + TransferWindow.clock(abs(minutes))
  }
}

extension TransferWindow {
  /// `02:00` of so many minutes.
  package static func clock(_ minutes: Int) -> String {
    [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  /// The same text for the same window: a set has no order.
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

  /// The times of day and the zone can be those of a window.
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
