import OtaflashFleet
import Testing

@Suite struct TransferWindowTests {
  /// Returns a time of day in UTC on 2026-11-23, a Monday, or the given number of days later.
  static func monday(_ hour: Int, _ minute: Int = 0, days: Int = 0) -> WallClockTime {
    let midnight: Int64 = 1_795_392_000
    let seconds = midnight + Int64(days * 86_400 + hour * 3600 + minute * 60)
    return WallClockTime(milliseconds: seconds * 1000)
  }

  static let night = TransferWindow(opens: 22 * 60, closes: 4 * 60)

  @Test func aWindowWithoutHoursIsAlwaysOpen() {
    #expect(TransferWindow().standing(at: Self.monday(12)) == .open(until: nil))
  }

  @Test func aWindowOpensAndClosesOnOneDay() {
    let window = TransferWindow(opens: 9 * 60, closes: 17 * 60 + 30)
    #expect(window.standing(at: Self.monday(8, 59)) == .closed(until: Self.monday(9)))
    #expect(window.standing(at: Self.monday(9)) == .open(until: Self.monday(17, 30)))
    #expect(window.standing(at: Self.monday(17, 29)) == .open(until: Self.monday(17, 30)))
    #expect(window.standing(at: Self.monday(17, 30)) == .closed(until: Self.monday(9, days: 1)))
  }

  @Test func hoursAcrossMidnightBelongToTheirFirstDay() {
    #expect(Self.night.standing(at: Self.monday(3)) == .open(until: Self.monday(4)))
    #expect(Self.night.standing(at: Self.monday(23)) == .open(until: Self.monday(4, days: 1)))
    #expect(Self.night.standing(at: Self.monday(4)) == .closed(until: Self.monday(22)))
    var mondays = Self.night
    mondays.days = [.monday]
    #expect(mondays.standing(at: Self.monday(3)) == .closed(until: Self.monday(22)))
    #expect(mondays.standing(at: Self.monday(3, days: 1)) == .open(until: Self.monday(4, days: 1)))
    #expect(
      mondays.standing(at: Self.monday(5, days: 1)) == .closed(until: Self.monday(22, days: 7)))
  }

  @Test func consecutiveCompleteDaysAreOneOpening() {
    let window = TransferWindow(days: [.saturday, .sunday])
    #expect(window.standing(at: Self.monday(12)) == .closed(until: Self.monday(0, days: 5)))
    #expect(
      window.standing(at: Self.monday(12, days: 5)) == .open(until: Self.monday(0, days: 7)))
  }

  @Test func theHoursUseTheTimeZone() {
    let window = TransferWindow(
      opens: 9 * 60, closes: 10 * 60, zone: ZoneOffsets(minutes: 330))
    #expect(window.standing(at: Self.monday(3, 30)) == .open(until: Self.monday(4, 30)))
    #expect(window.standing(at: Self.monday(9)) == .closed(until: Self.monday(3, 30, days: 1)))
  }

  /// Clocks are set back from 03:00 to 02:00, and forward from 02:00 to 03:00.
  @Test func clockChangesDoNotMoveTheHours() {
    let change = Self.monday(1, days: 3)
    let back = ZoneOffsets(minutes: 120, changes: [.init(at: change, minutes: 60)])
    let window = TransferWindow(opens: 9 * 60, closes: 10 * 60, zone: back)
    #expect(
      window.standing(at: Self.monday(6, 30, days: 2)) == .closed(until: Self.monday(7, days: 2)))
    #expect(
      window.standing(at: Self.monday(6, 30, days: 4)) == .closed(until: Self.monday(8, days: 4)))
    // The night of the change is an hour longer.
    let night = TransferWindow(opens: 22 * 60, closes: 4 * 60, zone: back)
    #expect(
      night.standing(at: Self.monday(23, days: 2)) == .open(until: Self.monday(3, days: 3)))
    let forward = ZoneOffsets(minutes: 60, changes: [.init(at: change, minutes: 120)])
    // 02:30 does not exist on that day; half an hour after the change takes its place.
    let missing = TransferWindow(opens: 150, closes: 240, zone: forward)
    #expect(
      missing.standing(at: Self.monday(0, 30, days: 3))
        == .closed(until: Self.monday(1, 30, days: 3)))
  }

  @Test func datesLimitAWindow() {
    var window = Self.night
    window.notBefore = Self.monday(23)
    window.notAfter = Self.monday(3, days: 1)
    #expect(window.standing(at: Self.monday(22, 30)) == .closed(until: Self.monday(23)))
    #expect(window.standing(at: Self.monday(23)) == .open(until: Self.monday(3, days: 1)))
    #expect(window.standing(at: Self.monday(3, days: 1)) == .over)
    window.notAfter = Self.monday(22)
    #expect(window.standing(at: Self.monday(10)) == .over)
    let always = TransferWindow(notBefore: Self.monday(5), notAfter: Self.monday(6))
    #expect(always.standing(at: Self.monday(4)) == .closed(until: Self.monday(5)))
    #expect(always.standing(at: Self.monday(5)) == .open(until: Self.monday(6)))
  }

  /// A window that reports to be closed until a moment must be open at that moment, which is tested
  /// for a thousand windows.
  @Test func aClosedWindowOpensAtTheReportedTime() {
    var state: UInt64 = 7
    func draw(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    func zone(_ minutes: Int, changingBy change: Int, on day: Int) -> ZoneOffsets {
      ZoneOffsets(
        minutes: minutes,
        changes: [.init(at: Self.monday(0, days: day), minutes: minutes + change)])
    }
    for _ in 0..<1000 {
      let days = Set(TransferWindow.Weekday.allCases.filter { _ in draw(2) == 0 })
      let window = TransferWindow(
        days: days.isEmpty ? [.friday] : days, opens: draw(1440), closes: 1 + draw(1440),
        zone: zone(draw(1440) - 720, changingBy: draw(241) - 120, on: draw(14)))
      let now = Self.monday(draw(24), draw(60), days: draw(14))
      switch window.standing(at: now) {
      case .open(let until?): #expect(until > now)
      case .open(nil), .over: break
      case .closed(let until):
        #expect(until > now)
        guard case .open = window.standing(at: until) else {
          Issue.record("\(window) is not open at \(until)")
          continue
        }
      }
    }
  }
}
