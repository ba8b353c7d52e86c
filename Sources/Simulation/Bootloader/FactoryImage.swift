import OtaflashFirmware

/// The factory image of several kinds of devices: seeded bytes with an image descriptor, in which
/// the application finds its version.
enum FactoryImage {
  private static let descriptorOffset = 0x200

  static func make(
    _ settings: BoardSettings, random: SeededRandom
  ) -> (bytes: [UInt8], version: FirmwareVersion, hardware: HardwareID) {
    var random = random
    var bytes = random.bytes(count: min(Bootloader.factoryImageSize, settings.slotSize))
    let descriptor = ImageDescriptor(version: settings.version, hardware: settings.hardware)
    let end = descriptorOffset + ImageDescriptor.size
    bytes.replaceSubrange(descriptorOffset..<end, with: descriptor.encoded)
    return (bytes, settings.version, settings.hardware)
  }
}
