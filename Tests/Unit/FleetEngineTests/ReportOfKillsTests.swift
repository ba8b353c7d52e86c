#if Fleet
import OtaflashFleet
import OtaflashFleetReport
import Testing

/// Tests of the report of complete runs over simulated boards, whose process dies a hundred times.
@Suite struct ReportOfKillsTests {
  @Test func aHundredKillsDoNotChangeTheReport() throws {
    var scene = Scene(
      40, and: FleetEngineTests.hurt,
      waves: [
        Wave("canary", .count(4), thresholds: FleetEngineTests.lenient),
        Wave("rest", .rest, thresholds: FleetEngineTests.lenient),
      ])
    scene.campaign.devices.append(FleetDevice(id: "unknown"))
    let whole = try #require(RunReport(try scene.run().history))
    scene.killsAfter = (0..<100).map { 1 + $0 * 7 % 40 }
    let outcome = try scene.run()
    #expect(outcome.processes == 101)
    let report = try #require(RunReport(outcome.history))
    #expect(report.withoutTimes == whole.withoutTimes)
    #expect(report.counts[.succeeded] == 42 && report.counts[.unseen] == 1)
    #expect(report.workers.count > 20, "the report names each process that worked")
  }
}
#endif
