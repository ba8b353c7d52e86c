#if Fleet
import OtaflashFirmware
import OtaflashFleet
import Testing

@testable import OtaflashFleetFiles

/// Tests of the keys for signatures, conditions, failure limits and windows of sites.
@Suite struct CampaignConditionTests {
  private static func read(_ text: String) throws -> Campaign {
    try CampaignFileTests.read(CampaignFileTests.minimal + text + "\n").campaign
  }

  @Test func conditionsAreParsed() throws {
    let campaign = try Self.read("key: keys/release.pem\nrequires: 1.2.0\nmin-battery: 30%")
    #expect(campaign.keyFile == "keys/release.pem")
    #expect(
      campaign.requirements
        == DeviceRequirements(
          version: FirmwareVersion(1, 2, 0), battery: DeviceRequirements.Battery(percent: 30)))
    let strict = try Self.read("min-battery: {percent: 30%, unknown: refuse}")
    #expect(
      strict.requirements.battery == DeviceRequirements.Battery(percent: 30, unknown: .refuse))
    #expect(try Self.read("").requirements.isEmpty)
  }

  @Test func aFailureLimitMayPauseAndLimitDevicesInFlight() throws {
    let campaign = try Self.read(
      "waves: [{devices: rest, stop: {failures: 2, then: pause, overshoot: 0}}]")
    #expect(
      campaign.waves[0].thresholds
        == WaveThresholds(stop: .count(2), stopAction: .pause, overshoot: 0))
    #expect(
      try Self.read("waves: [{devices: rest, stop: {then: end}}]").waves[0].thresholds
        == WaveThresholds(stopAction: .end))
  }

  @Test func aSiteInheritsOmittedKeysOfTheWindow() throws {
    let file = try CampaignFileTests.read(
      """
      campaign: c
      image: a
      devices: [{id: a, site: tokyo}, {id: b, site: lab}, c]
      window: {days: [mon], from: 22:00, to: 04:00, zone: +01:00, at-end: break-off}
      sites:
        tokyo: {zone: +09:00}
        lab: {from: 08:00, to: 00:00, days: [sat, sun], at-end: finish}
      """)
    let campaign = file.campaign
    let night = TransferWindow(
      days: [.monday], opens: 22 * 60, closes: 4 * 60, zone: ZoneOffsets(minutes: 60),
      atEnd: .breakOff)
    var tokyo = night
    tokyo.zone = ZoneOffsets(minutes: 540)
    let lab = TransferWindow(
      days: [.saturday, .sunday], opens: 8 * 60, closes: 24 * 60, zone: ZoneOffsets(minutes: 60))
    #expect(campaign.window(at: nil) == night && campaign.window(at: "paris") == night)
    #expect(campaign.window(at: "tokyo") == tokyo)
    #expect(campaign.window(at: "lab") == lab)
    #expect(try file.plan(now: CampaignFileTests.now).deviceCount == 3)
  }

  @Test(arguments: [
    ("key: ''", 4, 6, "key is empty"), ("requires: 1.2", 4, 11, "'1.2' is not a valid requires"),
    ("min-battery: 30", 4, 14, "'30' is not a valid min-battery"),
    ("min-battery: 0%", 4, 14, "at least 1%"), ("min-battery: 101%", 4, 14, "not a valid"),
    ("min-battery: {unknown: refuse}", 4, 14, "has no key 'percent'"),
    ("min-battery: {percent: 5%, unknown: skip}", 4, 37, "expected proceed or refuse"),
    ("waves: [{devices: rest, stop: {then: wait}}]", 4, 38, "expected end or pause"),
    ("waves: [{devices: rest, stop: {overshoot: -1}}]", 4, 43, "'-1' is not a valid overshoot"),
    ("waves: [{devices: rest, stop: {failed: 1}}]", 4, 32, "stop has no key 'failed'"),
    ("sites: [tokyo]", 4, 8, "write sites as"),
    ("sites: {tokyo: {zone: Asia/Atlantis}}", 4, 23, "is not a valid zone"),
    ("sites: {tokyo: {from: 8}}", 4, 23, "'8' is not a valid from"),
  ])
  func mistakesInKeysAreReportedWithTheirPosition(
    _ text: String, _ line: Int, _ column: Int, _ words: String
  ) {
    do {
      _ = try Self.read(text)
      Issue.record("it was read: \(text)")
    } catch let error as CampaignFileFault {
      #expect(error.words.contains(words), "\(error)")
      #expect(error.place == FilePlace(line: line, column: column), "\(error)")
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test(arguments: [
    ("sites: {tokyo: {from: 08:00}}", 4, 9, "no device has the site 'tokyo'"),
    ("waves: [{devices: rest, stop: 3}]", 4, 31, "stops at 3 failed devices, but has only 2"),
    ("waves: [{devices: 1, stop: 1}, {devices: rest, stop: {failures: 2}}]", 4, 54, "has only 1"),
  ])
  func mistakesInTheCompleteCampaignHaveAPosition(
    _ text: String, _ line: Int, _ column: Int, _ words: String
  ) throws {
    let file = try CampaignFileTests.read(CampaignFileTests.minimal + text + "\n")
    do throws(CampaignFileFault) {
      _ = try file.plan(now: CampaignFileTests.now)
      Issue.record("it was planned: \(text)")
    } catch {
      #expect(error.words.contains(words), "\(error)")
      #expect(error.place == FilePlace(line: line, column: column), "\(error)")
    }
  }
}
#endif
