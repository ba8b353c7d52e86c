#if Fleet
import OtaflashFirmware
import OtaflashFleet
import Testing

/// Tests of the version and the battery level that a campaign requires, over simulated boards.
@Suite struct ConditionTests {
  private static func scene(_ profiles: String...) -> Scene {
    var scene = Scene(0, and: profiles)
    scene.campaign.waves[0].thresholds = FleetEngineTests.lenient
    return scene
  }

  @Test func aDeviceBelowTheRequiredVersionIsSkippedWithoutAWrite() throws {
    var scene = Self.scene("fast?version=1.1.0&seed=1", "fast?version=1.2.0&seed=2")
    scene.campaign.requirements.version = FirmwareVersion(1, 2, 0)
    let outcome = try scene.run()
    #expect(
      outcome.run["other0"]?.ending
        == .skipped(words: "it runs 1.1.0, but the campaign requires 1.2.0 or later"))
    #expect(outcome.run["other0"]?.attempts == 1)
    #expect(outcome.sent["other0"] == 0)
    #expect(outcome.run["other1"]?.ending == .updated)
  }

  @Test func devicesWithALowOrUnknownBatteryLevelAreTreatedAsConfigured() throws {
    let profiles = [
      "fast?battery=20&seed=1", "fast?battery=30&seed=2", "fast?seed=3",
      "fast?battery=0&seed=4&version=1.3.0",
    ]
    var scene = Scene(0, and: profiles)
    scene.campaign.waves[0].thresholds = FleetEngineTests.lenient
    scene.campaign.requirements.battery = DeviceRequirements.Battery(percent: 30)
    let outcome = try scene.run()
    #expect(
      outcome.run["other0"]?.ending
        == .skipped(words: "its battery level is 20 %, but the campaign requires 30 %"))
    #expect(outcome.sent["other0"] == 0)
    #expect(outcome.run["other1"]?.ending == .updated)
    #expect(outcome.run["other2"]?.ending == .updated, "an unknown level is permitted")
    scene.campaign.requirements.battery?.unknown = .refuse
    let strict = try scene.run()
    #expect(
      strict.run["other2"]?.ending
        == .skipped(words: "it reports no battery level, but the campaign requires 30 %"))
    #expect(strict.sent["other2"] == 0)
  }

  /// The level is read only once, so a transfer whose link was lost is completed.
  @Test func aTransferThatLostItsLinkIsCompleted() throws {
    var scene = Self.scene("fast?battery=50&cut-at-pdu=60&seed=3")
    scene.campaign.requirements = DeviceRequirements(
      version: FirmwareVersion(1, 0, 0), battery: DeviceRequirements.Battery(percent: 50))
    #expect(try scene.run().run["other0"]?.ending == .updated)
  }

  /// Boards of all vendors report a level. Boards with a low level are skipped, and keep their
  /// image.
  @Test(arguments: [0, 100])
  func boardsOfAllVendorsReportTheLevel(level: Int) throws {
    var scene = try MixedFleetTests.scene(each: 1)
    scene.boards = scene.boards.map { ($0.id, $0.profile + "&battery=\(level)") }
    scene.campaign.waves[0].thresholds = FleetEngineTests.lenient
    scene.campaign.requirements.battery = DeviceRequirements.Battery(
      percent: 50, unknown: .refuse)
    let outcome = try scene.run()
    #expect(outcome.run.devices.count == 4)
    for device in outcome.run.devices {
      let id = device.device.id
      if level == 100 {
        #expect(device.ending == .updated, "\(id): \(String(describing: device.lastFailure))")
      } else {
        #expect(device.ending?.count == .neutral, "\(id): \(String(describing: device.ending))")
        #expect(outcome.truth[id] != FleetEngineTests.new, "\(id)")
      }
    }
  }
}
#endif
