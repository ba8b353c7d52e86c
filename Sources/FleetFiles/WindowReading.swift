#if Fleet
import Foundation
import OtaflashFleet
import Yams

/// The reader of `window:` and `sites:` in a campaign: days, times of day in a time zone, and
/// dates.
enum WindowReading {
  static let keys = [
    "days", "from", "to", "zone", "at-end", "not-before", "not-after",
  ]
  private static let days: [String: TransferWindow.Weekday] = [
    "mon": .monday, "tue": .tuesday, "wed": .wednesday, "thu": .thursday, "fri": .friday,
    "sat": .saturday, "sun": .sunday,
  ]

  /// Returns the transfer windows of sites.
  ///
  /// - Parameter window: the window of the campaign, which provides the values of keys that a site
  ///   omits.
  static func sites(
    in fields: YAMLFields, default window: TransferWindow?, now: WallClockTime
  ) -> [(name: String, window: TransferWindow, place: FilePlace)] {
    guard let node = fields["sites"] else { return [] }
    guard case .mapping(let mapping) = node, !mapping.isEmpty else {
      fields.mistakes.note(at: node.place, "write sites as 'SITE: {zone: …, from: …}'")
      return []
    }
    var sites: [(name: String, window: TransferWindow, place: FilePlace)] = []
    for (site, value) in mapping {
      let name = fields.mistakes.attempt { () throws(CampaignFileFault) in
        try site.text(of: "a site")
      }
      let own = YAMLFields(value, of: "a site", known: keys, fields.mistakes)
      let read = Self.window(in: own, default: window ?? TransferWindow(), now: now)
      if let name { sites.append((name, read, site.place)) }
    }
    return sites
  }

  /// - Parameter window: provides the values of omitted keys.
  static func window(
    in fields: YAMLFields, default window: TransferWindow = TransferWindow(), now: WallClockTime
  ) -> TransferWindow {
    var window = window
    if fields["days"] != nil { window.days = Self.days(in: fields) }
    window.opens =
      fields.read("from", "a time of day, such as 22:00") { minutes($0) } ?? window.opens
    window.closes =
      fields.read("to", "a time of day, such as 04:00") { minutes($0) }.map {
        $0 == 0 ? 24 * 60 : $0
      } ?? window.closes
    if window.opens >= 24 * 60 {
      fields.mistakes.note(at: fields.place(of: "from"), "a day ends at 24:00")
    }
    window.zone =
      fields.read("zone", "UTC, +02:00 or a name such as Europe/Berlin") {
        zone($0, around: now)
      } ?? window.zone
    window.atEnd = fields.choice("at-end", TransferWindow.AtEnd.self) ?? window.atEnd
    let moment = "a date and time, such as 2026-11-23T22:00:00Z"
    window.notBefore =
      fields.read("not-before", moment) { WallClockTime(iso8601: $0) } ?? window.notBefore
    window.notAfter =
      fields.read("not-after", moment) { WallClockTime(iso8601: $0) } ?? window.notAfter
    return window
  }

  private static func days(in fields: YAMLFields) -> Set<TransferWindow.Weekday> {
    var days: Set<TransferWindow.Weekday> = []
    for element in fields.list("days") {
      let text = element.scalar?.string ?? ""
      guard let day = Self.days[text] else {
        fields.mistakes.note(
          at: element.place, "'\(text)' is not a day; use mon, tue, wed, thu, fri, sat, sun")
        continue
      }
      days.insert(day)
    }
    return days
  }

  /// Returns the minutes of `22:00` or `24:00`. In YAML 1.1, 22:00 without quotation marks is a
  /// base-60 number; here it is a string.
  private static func minutes(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.count == 2 }),
      let hour = Int(count: String(parts[0])), let minute = Int(count: String(parts[1])),
      hour < 24 && minute < 60 || hour == 24 && minute == 0
    else { return nil }
    return hour * 60 + minute
  }

  private static func zone(_ text: String, around now: WallClockTime) -> ZoneOffsets? {
    if text == "UTC" { return .utc }
    if let sign = text.first, sign == "+" || sign == "-" {
      guard let minutes = minutes(String(text.dropFirst())), minutes < 24 * 60 else { return nil }
      return ZoneOffsets(minutes: sign == "-" ? -minutes : minutes)
    }
    guard text.contains("/"), let zone = TimeZone(identifier: text) else { return nil }
    return ZoneOffsets(zone, around: now)
  }
}

extension ZoneOffsets {
  private static let year: TimeInterval = 366 * 86_400
  /// The maximum number of changes of the time zone: two a year, and some additional changes by
  /// governments.
  private static let changesMaximum = 40

  fileprivate init(_ zone: TimeZone, around now: WallClockTime) {
    let center = Date(timeIntervalSince1970: Double(now.milliseconds) / 1000)
    var moment = center.addingTimeInterval(-Self.year)
    let end = center.addingTimeInterval(3 * Self.year)
    var changes: [Change] = []
    let first = zone.secondsFromGMT(for: moment) / 60
    while changes.count < Self.changesMaximum,
      let next = zone.nextDaylightSavingTimeTransition(after: moment), next > moment, next < end
    {
      let at = WallClockTime(milliseconds: Int64(next.timeIntervalSince1970 * 1000))
      changes.append(Change(at: at, minutes: zone.secondsFromGMT(for: next) / 60))
      moment = next
    }
    self.init(minutes: first, changes: changes, name: zone.identifier)
  }
}

extension WallClockTime {
  /// Parses `2026-11-23T22:00:00Z`, or such a time with an offset instead of `Z`.
  init?(iso8601 text: String) {
    do {
      let date = try Date(text, strategy: .iso8601)
      self.init(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    } catch {
      return nil
    }
  }
}
#endif
