import OtaflashFleet
import Testing

@testable import OtaflashFleetReport

/// Tests of times and sizes in charts and texts.
@Suite struct PictureTests {
  private static func time(_ seconds: Int64) -> WallClockTime {
    WallClockTime(milliseconds: 1_795_425_600_000 + seconds * 1000)
  }

  /// A wave of ten minutes, a night, and a wave of ten minutes: each wave has half of the chart.
  @Test func aNightBetweenTwoWavesIsShortened() {
    let scale = TimeScale(
      busy: [Self.time(50_000)..<Self.time(50_600), Self.time(0)..<Self.time(600)],
      whole: Self.time(0)..<Self.time(50_600), left: 100, width: 900)
    #expect(scale.segments.map(\.x) == [100, 565] && scale.segments.map(\.width) == [435, 435])
    #expect(scale.breaks.map(\.milliseconds) == [49_400_000])
    #expect(scale.position(Self.time(300)) == 317.5)
    #expect(scale.position(Self.time(20_000)) == 565, "an omitted time is at the end of its break")
    #expect(scale.position(Self.time(50_600)) == 1000 && scale.position(Self.time(99_999)) == 1000)
  }

  @Test func shortWaitsAreDrawnToScale() {
    let scale = TimeScale(
      busy: [Self.time(0)..<Self.time(100), Self.time(110)..<Self.time(200)],
      whole: Self.time(0)..<Self.time(200), left: 0, width: 1000)
    #expect(scale.breaks.isEmpty && scale.position(Self.time(110)) == 550)
  }

  /// Of a hundred nights, at most eight are omitted.
  @Test func aChartHasFewBreaks() {
    let busy = (0..<100).map { (night: Int64) in
      let start = night * 90_000
      return Self.time(start + night % 7)..<Self.time(start + 600)
    }
    let scale = TimeScale(
      busy: busy, whole: Self.time(0)..<Self.time(9_000_000), left: 0, width: 1000)
    #expect(scale.breaks.count <= 8 && scale.segments.count == scale.breaks.count + 1)
    #expect(abs((scale.segments.last?.end ?? 0) - 1000) < 0.001)
  }

  @Test func ticksAreRoundLocalTimes() {
    let scale = TimeScale(
      busy: [Self.time(0)..<Self.time(3600)], whole: Self.time(0)..<Self.time(3600), left: 0,
      width: 720)
    let ticks = scale.ticks(in: ZoneOffsets(minutes: 330))
    #expect(ticks.map(\.label).prefix(3) == ["14:50", "15:00", "15:10"])
    #expect(ticks.map(\.x).prefix(3) == [0, 120, 240])
    #expect(ticks[0].date == "23 Nov 2026" && ticks.dropFirst().allSatisfy { $0.date == nil })
    #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $1.x - $0.x >= 54 })
  }

  @Test func aRunWithoutAttemptsHasAChart() {
    let scale = TimeScale(
      busy: [], whole: Self.time(0)..<Self.time(0), left: 0, width: 100)
    #expect(scale.segments.count == 1 && scale.breaks.isEmpty)
  }

  @Test(arguments: [
    (0, "0.0 s"), (850, "0.9 s"), (9949, "9.9 s"), (59_499, "59 s"), (59_500, "1 min"),
    (448_000, "7 min 28 s"), (3_599_499, "59 min 59 s"), (3_599_500, "1 h"),
    (7_440_000, "2 h 4 min"), (86_369_999, "23 h 59 min"), (86_370_000, "1 d"),
    (266_400_000, "3 d 2 h"),
  ])
  func durationsAreShort(_ milliseconds: Int64, _ words: String) {
    #expect(Figures.duration(milliseconds) == words)
  }

  @Test(arguments: [
    (0.0, "0 B/s"), (999, "999 B/s"), (32_940, "32.9 kB/s"), (999_949, "999.9 kB/s"),
    (999_950, "1.0 MB/s"), (2_500_000_000, "2.5 GB/s"),
  ])
  func ratesHaveTheirUnit(_ rate: Double, _ words: String) {
    #expect(Figures.rate(rate) == words)
  }

  /// The expected values are the output of `date -u -d @…`.
  @Test(arguments: [
    (1_795_425_600, "2026-11-23T09:20:00Z"), (951_782_400, "2000-02-29T00:00:00Z"),
    (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
    (4_107_542_399, "2100-02-28T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
  ])
  func momentsMatchTheCalendar(_ seconds: Int64, _ text: String) {
    #expect(CalendarTime.text(WallClockTime(milliseconds: seconds * 1000)) == text)
  }
}
