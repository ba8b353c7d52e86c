import OtaflashFleet
import OtaflashFleetReport
import Testing

/// The report of a run with killed processes equals the report of an uninterrupted run.
@Suite struct ReportDrillTests {
  /// Randomness is drawn only per device, because randomness per attempt would differ after a kill.
  private static let luck = Drill.Luck(bad: 0.15, away: 0.1)

  @Test func aHundredKillsDoNotChangeTheReport() throws {
    for seed in UInt64(1)...40 {
      var whole = try Drill(RulesDrillTests.plan(40), seed: seed, luck: Self.luck)
      try whole.drive()
      var killed = try Drill(RulesDrillTests.plan(40), seed: seed, luck: Self.luck)
      var chance = seed
      var at = 0
      killed.killsAt = (0..<100).map { _ in
        chance = chance &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        at += Int(chance >> 33) % 12 + 1
        return at
      }
      try killed.drive()
      #expect(killed.killsAt.isEmpty, "seed \(seed): all hundred have happened")
      let report = try #require(RunReport(killed.history))
      let expected = try #require(RunReport(whole.history))
      #expect(report.withoutTimes == expected.withoutTimes, "seed \(seed)")
      #expect(report.events > expected.events && report.last != expected.last, "seed \(seed)")
      #expect(report.counts[.failed] > 0 && report.counts[.unseen] > 0, "seed \(seed)")
    }
  }

  /// A report can be created after each event that follows the plan. Its counts include all
  /// devices, and open devices reach an outcome later.
  @Test func anUnfinishedRunHasAReportAtEveryEvent() throws {
    var drill = try Drill(RulesDrillTests.plan(12), seed: 7, luck: Self.luck)
    try drill.drive()
    var settled = 0
    for count in 4...drill.history.count {
      let report = try #require(RunReport(Array(drill.history.prefix(count))))
      #expect(report.counts.total == 12)
      let open = report.counts[.running] + report.counts[.waiting]
      #expect(12 - open >= settled)
      settled = 12 - open
      #expect(report.devices.flatMap(\.attempts).count { $0.ended == nil } <= 4)
    }
    #expect(settled == 12)
  }

  @Test func beforeItsFirstEventARunHasNoReport() throws {
    #expect(RunReport([]) == nil)
    var drill = try Drill(RulesDrillTests.plan(3), seed: 1)
    try drill.drive()
    #expect(RunReport(Array(drill.history.dropFirst(1))) == nil)
    #expect(RunReport(Array(drill.history.prefix(1) + drill.history.dropFirst(2))) == nil)
  }
}
