import OtaflashFirmware
import OtaflashFleet
import OtaflashSimulation

extension CampaignSimulation {
  /// The space that a bootloader requires in a slot in addition to the image.
  private static let slotReserve = 8192
  private static let pageSize = 4096

  /// Creates a simulation with random images, and with boards whose slots have room for them, if
  /// only the sizes of the images are known.
  ///
  /// - Parameter sizes: the sizes of the images in bytes, by their names in the campaign.
  package init(
    _ plan: CampaignPlan, on fleet: FleetProfile, sizes: [String: Int],
    start: WallClockTime = WallClockTime(milliseconds: 0)
  ) {
    var fleet = fleet
    let slot = (sizes.values.max() ?? 0) + Self.slotReserve
    fleet.changeBoards {
      $0.slotSize = max((slot + Self.pageSize - 1) / Self.pageSize * Self.pageSize, 98_304)
    }
    self.init(plan, on: fleet, packages: sizes.mapValues(FirmwarePackage.standIn), start: start)
    // Random images have no patches, so patches must not be required.
    countsWholeImages = campaign.flash.delta != .never
    campaign.flash.delta = .never
    campaign.flash.allowUnknown = true
    campaign.flash.allowOtherHardware = true
  }
}

extension FirmwarePackage {
  /// Returns an incompressible image of a version that no device runs.
  package static func standIn(bytes: Int) -> FirmwarePackage {
    var random = SeededRandom(seed: 1)
    let content = (0..<max(bytes, 1)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let image = FirmwareImage(
      name: "image", format: .binary, bytes: content, version: FirmwareVersion(255, 0, 0),
      hardware: nil)
    return FirmwarePackage(name: "image", kind: .raw, parts: [image])
  }
}
