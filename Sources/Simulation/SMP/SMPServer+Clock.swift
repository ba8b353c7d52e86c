import OtaflashGATT
import OtaflashWire

/// The device's real-time clock: command 4 of the OS management group (Zephyr, `os_mgmt.c`).
extension SMPServer {
  /// A clock that was set, and that runs until the power is lost.
  struct RealTimeClock: Sendable {
    /// The seconds since 1970 at the time `setAt`.
    let seconds: Int
    let setAt: LinkInstant
  }

  /// OS_MGMT_ERR_RTC_NOT_SET.
  private static let notSet = 4
  /// RTC_DATETIME_MIN_STRING_SIZE and …_MAX_STRING_SIZE.
  private static let sizes = 14..<26

  func readDateTime() throws(SMPServerRefusal) -> Work {
    try requireClock()
    guard let clock = realTimeClock else { throw .system(Self.notSet) }
    let passed = clock.setAt.duration(to: parts.clock.now)
    let now = clock.seconds + Int(passed.components.seconds)
    return Work(answer: .body(SMPOS.ReadDateTime.Response(Self.text(of: now)).body))
  }

  mutating func setDateTime(_ request: SMPOS.WriteDateTime) throws(SMPServerRefusal) -> Work {
    try requireClock()
    guard Self.sizes.contains(request.text.utf8.count), let seconds = Self.seconds(request.text)
    else { throw .general(.invalid) }
    realTimeClock = RealTimeClock(seconds: seconds, setAt: parts.clock.now)
    return Work(answer: .body(CBORMap()))
  }

  private func requireClock() throws(SMPServerRefusal) {
    guard settings.hasClock, !is2021, !isRecovery else { throw .general(.notSupported) }
  }

  /// Parses six numbers, and returns the seconds since 1970; `nil` if a number is missing or out of
  /// range. Any character may separate two numbers. Days are only compared with 31.
  private static func seconds(_ text: String) -> Int? {
    let ranges = [1900...11_899, 1...12, 1...31, 0...23, 0...59, 0...59]
    var rest = Substring(text)
    var fields: [Int] = []
    for range in ranges {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      guard let value = Int(digits), range.contains(value) else { return nil }
      fields.append(value)
      rest = rest.dropFirst(digits.count).dropFirst()
    }
    let days = day(year: fields[0], month: fields[1], fields[2])
    return days * 86_400 + fields[3] * 3_600 + fields[4] * 60 + fields[5]
  }

  /// Returns the number of days since 1970-01-01. The calculation uses years that start in March.
  private static func day(year: Int, month: Int, _ day: Int) -> Int {
    let shifted = month < 3 ? year - 1 : year
    let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400
    return days + (153 * ((month + 9) % 12) + 2) / 5 + day - 1 - 719_468
  }

  private static func text(of seconds: Int) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400)
    let shifted = days + 719_468
    let era = shifted % 146_097
    let yearOfEra = (era - era / 1_460 + era / 36_524 - era / 146_096) / 365
    let dayOfYear = era - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + shifted / 146_097 * 400 + (month < 3 ? 1 : 0)
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    return "\(year)-\(two(month))-\(two(day))"
      + "T\(two(rest / 3_600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
  }
}
