import OtaflashFleet
import OtaflashFleetReport
import Testing

/// Tests of devices that the campaign excluded, and of waves that the run did not complete.
@Suite struct SkippedDeviceTests {
  private static func report(_ endings: [DeviceEnding], _ last: [FleetEvent]) throws -> RunReport {
    let ids = endings.indices.map { "d\($0)" }
    var events: [FleetEvent] = [
      .runBegan(
        RunBeginning(id: "r", campaign: "doors", digest: "x", devices: ids.count, waves: 2)),
      .wavePlanned(
        wave: 0, name: "canary", devices: ids.map { RunDevice(id: $0, image: "i") }),
      .wavePlanned(wave: 1, name: "all", devices: [RunDevice(id: "other", image: "i")]),
      .waveBegan(wave: 0),
    ]
    events += zip(ids, endings).map { .deviceSettled(device: $0, ending: $1) }
    let history = (events + last).enumerated().map { number, event in
      RecordedEvent(
        number: number + 1, at: WallClockTime(milliseconds: Int64(number) * 1000), event: event)
    }
    return try #require(RunReport(history))
  }

  @Test func aSkippedDeviceIsSkippedInEveryReport() throws {
    let hostFailure = AttemptFailure(
      .infrastructure, code: "disk", words: "the disk is full", isFinal: true)
    let report = try Self.report(
      [.updated, .skipped(words: "the hook said no"), .failed(hostFailure)],
      [.waveJudged(wave: 0, verdict: .continue), .waveBegan(wave: 1)])
    #expect(report.headline.contains("2 were skipped"), "\(report.headline)")
    let junit = JUnitReport.text(report)
    #expect(junit.contains("<skipped message=\"the hook said no\">"), "\(junit)")
    #expect(junit.contains("<error message=\"the disk is full\""), "\(junit)")
    #expect(junit.contains("failures=\"0\" errors=\"1\" skipped=\"1\""), "\(junit)")
  }

  @Test(arguments: [
    ([FleetEvent.runCancelled, .runEnded(.cancelled)], "not complete"),
    (
      [.waveSoaking(wave: 0, until: WallClockTime(milliseconds: 9)), .runEnded(.cancelled)],
      "not judged: the soak time had not ended"
    ),
    (
      [.waveJudged(wave: 0, verdict: .continue), .approvalAwaited(wave: 0), .runEnded(.cancelled)],
      "good; not approved"
    ),
    (
      [.waveJudged(wave: 0, verdict: .continue), .approvalAwaited(wave: 0)],
      "good; waiting for approval"
    ),
    ([], "in progress"),
  ])
  func aWaveOfACancelledRunIsNotInProgress(_ last: [FleetEvent], _ words: String) throws {
    let report = try Self.report([.updated], last)
    #expect(report.waves.map(\.verdictWords) == [words, "not started"])
  }
}
