#if Fleet
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashSwarm
import Testing

/// Tests of boards of several kinds in one campaign, each with its own image and protocol.
@Suite struct MixedFleetTests {
  private static let profiles: [(board: String?, profile: String)] = [
    (nil, "fast?slot=64K"), ("zephyr", "smp?slot=64K&erase=0&write=0"),
    ("nordic", "nordic-dfu?slot=64K&erase=0&write=0"),
    ("nordic-legacy", "nordic-legacy?slot=64K&erase=0&write=0"),
  ]

  static func scene(each count: Int) throws -> Scene {
    var scene = Scene(0)
    scene.campaign.images = [nil: "app.bin"]
    scene.packages = [:]
    for (board, profile) in profiles {
      let image = try FirmwareImage.drawn(for: profile, size: 9_000)
      let package = FirmwarePackage(name: image.name, kind: .raw, parts: [image])
      let file = board.map { "\($0).bin" } ?? "app.bin"
      scene.campaign.images[board] = file
      scene.packages[board == nil ? "i" : file] = package
      for index in 0..<count {
        let id = "\(board ?? "own")-\(index)"
        scene.boards.append((id, "\(profile)&seed=\(index + 1)"))
        scene.campaign.devices.append(FleetDevice(id: id, board: board))
      }
    }
    scene.campaign.flash.writing = .withResponse
    return scene
  }

  @Test func boardsOfAllVendorsAreUpdatedByOneCampaign() throws {
    let outcome = try Self.scene(each: 4).run()
    #expect(outcome.run.control == .ended(.complete(failed: 0)))
    #expect(outcome.run.devices.count == 16)
    for device in outcome.run.devices {
      let id = device.device.id
      #expect(device.ending == .updated, "\(id): \(String(describing: device.lastFailure))")
      #expect(outcome.truth[id] == FleetEngineTests.new, "\(id) reports its version")
    }
    let images = Set(outcome.run.devices.map(\.device.image))
    #expect(images == ["i", "zephyr.bin", "nordic.bin", "nordic-legacy.bin"])
  }

  /// An image of another vendor does not fit the device: the device fails, and nothing is sent to
  /// it.
  @Test func aDeviceListedWithAWrongVendorFailsWithoutAWrite() throws {
    var scene = try Self.scene(each: 2)
    scene.campaign.waves[0].thresholds = FleetEngineTests.lenient
    let index = try #require(scene.campaign.devices.firstIndex { $0.id == "zephyr-1" })
    scene.campaign.devices[index].board = "nordic"
    let outcome = try scene.run()
    #expect(outcome.run["zephyr-1"]?.ending?.count == .failed)
    #expect(outcome.sent["zephyr-1"] == 0)
    #expect(outcome.run.devices.count { $0.ending == .updated } == 7)
  }
}
#endif
