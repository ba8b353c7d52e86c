import OtaflashFirmware
import OtaflashFleet
import OtaflashSimulation

extension CampaignSimulation {
  /// Room that a bootloader wants of a slot beside the image.
  private static let slotReserve = 8192
  private static let pageSize = 4096

  /// A trial in which each image is so many bytes that mean nothing, and the devices are boards
  /// with the OTA service: for devices and files of which no more is known than their sizes.
  ///
  /// - Parameter sizes: of the images, in bytes, by their files' names in the campaign.
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
    // Of bytes that mean nothing there are no patches, so that none may be required either.
    countsWholeImages = campaign.flash.delta != .never
    campaign.flash.delta = .never
    campaign.flash.allowUnknown = true
    campaign.flash.allowOtherHardware = true
  }
}

extension FirmwarePackage {
  /// An image of so many bytes that cannot be compressed, of a version that no device runs.
  package static func standIn(bytes: Int) -> FirmwarePackage {
    var random = SeededRandom(seed: 1)
    let content = (0..<max(bytes, 1)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let image = FirmwareImage(
      name: "image", format: .binary, bytes: content, version: FirmwareVersion(255, 0, 0),
      hardware: nil)
    return FirmwarePackage(name: "image", kind: .raw, parts: [image])
  }
}
