#if Fleet
import OtaflashFirmware
import OtaflashFleet
import Testing

@testable import OtaflashFleetFiles

/// Tests of `devices-from: known`, and of versions that were read from devices.
@Suite struct KnownDevicesTests {
  private static let known = [
    FleetDevice(id: "C0:FF:EE:00:00:01", name: "front", version: FirmwareVersion(1, 3, 0)),
    FleetDevice(id: "C0:FF:EE:00:00:02", board: "gate", version: FirmwareVersion(1, 4, 0)),
    FleetDevice(id: "C0:FF:EE:00:00:03"),
  ]

  private static func read(_ lines: String) throws(CampaignFileFault) -> CampaignFile {
    try CampaignFileTests.read("campaign: c\nimage: a.bin\n" + lines)
  }

  @Test func knownDevicesAreSelectedByTheVersionThatWasRead() throws {
    let file = try Self.read("devices-from: known\nselect: version<1.4.0\n")
    let (whole, undecided) = file.knowing(Self.known)
    let plan = try whole.plan(now: CampaignFileTests.now)
    #expect(plan.waves.flatMap(\.devices).map(\.id) == ["C0:FF:EE:00:00:01"])
    #expect(plan.leftOut.map(\.id) == ["C0:FF:EE:00:00:02"])
    #expect(undecided.map(\.id) == ["C0:FF:EE:00:00:03"])
  }

  @Test func listedDevicesHaveTheKnownVersionUnlessTheListStatesAVersion() throws {
    let file = try Self.read(
      """
      devices:
        - c0:ff:ee:00:00:01/random
        - {id: C0:FF:EE:00:00:02, version: 1.0.0}
      select: version<1.4.0
      """)
    #expect(throws: CampaignFileFault.self, "nothing was read") {
      try file.plan(now: CampaignFileTests.now)
    }
    let (whole, undecided) = file.knowing(Self.known)
    let plan = try whole.plan(now: CampaignFileTests.now)
    #expect(undecided.isEmpty, "a listed device with an unknown fact is an error")
    #expect(plan.leftOut.isEmpty && plan.deviceCount == 2)
    #expect(whole.campaign.devices.map(\.version?.description) == ["1.3.0", "1.0.0"])
  }

  @Test(arguments: [
    ("devices-from: known", 3, 1, "requires 'select'"),
    (
      "devices-from: file\nselect: version<1.4.0", 3, 15,
      "'file' is not a valid devices-from; expected known"
    ),
  ])
  func mistakesInDevicesFromHaveAPosition(
    _ lines: String, line: Int, column: Int, words: String
  ) throws {
    do throws(CampaignFileFault) {
      _ = try Self.read(lines)
      Issue.record("\(lines) was read")
    } catch {
      #expect(error.place == FilePlace(line: line, column: column), "\(error)")
      #expect(error.words.contains(words), "\(error.words)")
    }
  }

  @Test func missingKnownDevicesAreReportedAtTheKey() throws {
    let file = try Self.read("devices-from: known\nselect: version<1.4.0\n").knowing([]).file
    do throws(CampaignFileFault) {
      _ = try file.plan(now: CampaignFileTests.now)
      Issue.record("there are no devices")
    } catch {
      #expect(error.place.line == 3 && error.words == "there are no devices")
    }
  }
}
#endif
