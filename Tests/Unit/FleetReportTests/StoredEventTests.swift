import Foundation
import OtaflashFleet
import Testing

/// Tests that later versions read the events of the first versions, because events are permanent.
@Suite struct StoredEventTests {
  private static let old =
    #"{"runBegan":{"_0":{"campaign":"c","devices":2,"digest":"d","id":"r","waves":1}}}"#

  @Test func aStartWithoutLaterFieldsIsReadAndWrittenUnchanged() throws {
    let event = try JSONDecoder().decode(FleetEvent.self, from: Data(Self.old.utf8))
    #expect(
      event
        == .runBegan(RunBeginning(id: "r", campaign: "c", digest: "d", devices: 2, waves: 1)))
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(String(decoding: try encoder.encode(event), as: UTF8.self) == Self.old)
  }

  @Test func laterFieldsAreReadBack() throws {
    var beginning = RunBeginning(
      id: "r", campaign: "c", digest: "d", devices: 2, waves: 1, startedBy: "anna@line-3")
    beginning.images = [
      RunImage(digest: "i", name: "a.bin", version: "1.3.0", size: 65_536, sha256: "ab")
    ]
    beginning.files = [
      RunFile(.campaign, name: "c.yaml", sha256: "cd"), RunFile(.hook, name: "./h"),
    ]
    beginning.settings = [RunSetting("retries", "5 attempts")]
    let window = TransferWindow(
      days: [.sunday, .monday], opens: 60, closes: 120, zone: ZoneOffsets(minutes: 60))
    beginning.windows = TransferWindows(general: window, sites: ["tokyo": window])
    let wave = Wave(
      "all", .rest, thresholds: WaveThresholds(stop: .count(2)), soak: .seconds(90),
      needsApproval: true)
    beginning.waveRules = [WaveRule(wave), WaveRule(Wave("b", .rest))]
    let event = FleetEvent.runBegan(beginning)
    let data = try JSONEncoder().encode(event)
    #expect(try JSONDecoder().decode(FleetEvent.self, from: data) == event)
    #expect(beginning.waveRules?[0].soakMilliseconds == 90_000)
  }
}
