#if Fleet
import Foundation
import OtaflashFleet
import OtaflashFleetReport
import Testing

/// Tests of the text of reports about operator commands and waits.
@Suite struct OperatorTests {
  private static let approval = OperatorAction(
    .approve, by: "anna@line-3", reason: "<b>the canary</b> looks good")

  private static func history(_ middle: [(Double, FleetEvent)]) -> [RecordedEvent] {
    let waves: [(Double, FleetEvent)] = [
      (
        0,
        .runBegan(RunBeginning(id: "r", campaign: "doors", digest: "x", devices: 2, waves: 2))
      ),
      (0, .wavePlanned(wave: 0, name: "canary", devices: [RunDevice(id: "a", image: "i")])),
      (0, .wavePlanned(wave: 1, name: "all", devices: [RunDevice(id: "b", image: "i")])),
      (0, .waveBegan(wave: 0)), (1, .deviceSettled(device: "a", ending: .absent)),
      (2, .waveJudged(wave: 0, verdict: .inconclusive(seen: 0, of: 1))),
      (2, .runPaused(because: .inconclusive(wave: 0))),
    ]
    return RunReportTests.history(waves + middle)
  }

  private static func page(_ report: RunReport) -> String {
    HTMLReport.text(report, in: HTMLReportTests.surroundings)
  }

  @Test func anApprovalStatesOperatorReasonAndTime() throws {
    let report = try #require(
      RunReport(
        Self.history([
          (9, .operatorActed(Self.approval)), (9, .runResumed), (9, .waveApproved(wave: 0)),
          (12, .operatorActed(OperatorAction(.pause, by: "bo"))), (12, .runPaused(because: .asked)),
        ])))
    #expect(report.operators.map(\.action.kind) == [.approve, .pause])
    #expect(report.operators[0].at == RunReportTests.time(9))
    #expect(report.waves[0].times.approvedBy == Self.approval)
    #expect(report.waves[0].verdictWords == "0 of 1 have an outcome; anna@line-3 approved the wave")
    let page = Self.page(report)
    #expect(page.contains("by anna@line-3 (&lt;b&gt;the canary&lt;/b&gt; looks good)"))
    #expect(page.contains("Operator commands"))
    #expect(page.contains("pause by bo"))
  }

  /// Former versions recorded no operator. The approval of another wave must not count for this
  /// wave.
  @Test func anUnrecordedApprovalHasNoOperator() throws {
    let report = try #require(
      RunReport(
        Self.history([
          (9, .operatorActed(Self.approval)), (9, .runResumed), (9, .waveApproved(wave: 0)),
          (10, .waveBegan(wave: 1)), (12, .waveApproved(wave: 1)),
        ])))
    #expect(report.waves[1].times.approved != nil && report.waves[1].times.approvedBy == nil)
    let former = try #require(
      RunReport(Self.history([(9, .runResumed), (9, .waveApproved(wave: 0))])))
    #expect(former.waves[0].verdictWords == "0 of 1 have an outcome; an operator approved the wave")
    #expect(!Self.page(former).contains("Operator commands"))
  }

  @Test func filesAndOptionsAreOnThePage() throws {
    var beginning = RunBeginning(id: "r", campaign: "doors", digest: "x", devices: 1, waves: 1)
    let hash = String(repeating: "4f", count: 32)
    beginning.images = [RunImage(digest: "i", name: "a.bin", sha256: hash)]
    beginning.files = [
      RunFile(.campaign, name: "doors.yaml", sha256: String(repeating: "5a", count: 32)),
      RunFile(.deviceKey, name: "k.bin"),
    ]
    beginning.settings = [
      RunSetting("overrides", "allow-downgrade, force"), RunSetting("retries", "5 attempts"),
      RunSetting("hook before-device", "./fetch-key --quiet"),
    ]
    let report = try #require(
      RunReport(
        RunReportTests.history([
          (0, .runBegan(beginning)),
          (0, .wavePlanned(wave: 0, name: "all", devices: [RunDevice(id: "a", image: "i")])),
        ])))
    let page = Self.page(report)
    for text in [
      hash, "doors.yaml, SHA-256 5a5a", "k.bin, secret: no hash is recorded",
      "allow-downgrade, force", "./fetch-key --quiet", "All options of the campaign", "5 attempts",
    ] {
      #expect(page.contains(text), "\(text)")
    }
  }

  // MARK: Waits

  /// 19:30 UTC on 2026-11-23.
  private static let evening = WallClockTime(milliseconds: 1_795_462_200_000)
  private static let run = FleetRun(history([]))

  @Test(arguments: [
    (
      RunWait(
        .window(site: nil, zone: ZoneOffsets(minutes: 60)),
        until: evening.advanced(by: .seconds(19_800)), devices: 40),
      "the window opens 24 Nov 2026, 02:00 +01:00, in 5 h 30 min (40 devices wait)"
    ),
    (
      RunWait(
        .window(site: "berlin", zone: .utc), until: evening.advanced(by: .seconds(90)), devices: 1),
      "the window of site berlin opens 19:31:30 UTC, in 1 min 30 s (1 device waits)"
    ),
    (
      RunWait(.window(site: nil, zone: .utc), devices: 2),
      "the window does not open again (2 devices wait)"
    ),
    (
      RunWait(.soak(wave: 0), until: evening.advanced(by: .seconds(600)), devices: 1),
      "wave canary soaks until 19:40:00 UTC, in 10 min"
    ),
    (
      RunWait(.retry, until: evening.advanced(by: .seconds(7)), devices: 3),
      "the next attempt starts 19:30:07 UTC, in 7.0 s (3 devices wait)"
    ),
    (RunWait(.approval(wave: 0), devices: 1), "wave canary needs an operator's approval"),
    (RunWait(.paused, devices: 1), "an operator must resume the run"),
    (RunWait(.noAdapter, devices: 4), "no adapter is present (4 devices wait)"),
    (RunWait(.noFreePlace, devices: 4), "no adapter is free (4 devices wait)"),
    (RunWait(.hook(.beforeWave), devices: 4), "the hook before-wave is running"),
  ])
  func aWaitIsAClauseWithItsEnd(_ wait: RunWait, _ words: String) {
    #expect(wait.words(in: Self.run, at: Self.evening) == words)
  }
}
#endif
