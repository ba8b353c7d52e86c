import OtaflashFirmware
import OtaflashSimulation

/// Images for the kinds of simulated devices, with content that depends on a seed.
extension FirmwareImage {
  private static let descriptorOffset = 64

  /// Returns an image that the device of a profile accepts.
  ///
  /// - Parameters:
  ///   - size: the size in bytes without the format of the device's kind; 128 or more for Nordic's
  ///   bootloaders.
  ///   - index: the number of the image in the device.
  public static func drawn(
    for profile: String, size: Int, version: FirmwareVersion = FirmwareVersion(1, 3, 0),
    seed: UInt64 = 1, index: Int = 0
  ) throws -> FirmwareImage {
    let plain = drawn(size: size, version: version, seed: seed)
    let kind = try SimulationProfile(parsing: profile).device.ofSwarm
    return try kind?.image(plain, version: version, index: index) ?? plain
  }

  /// Returns the bytes with an image descriptor, from which an application reads its version.
  func describing(_ version: FirmwareVersion) -> [UInt8] {
    var bytes = self.bytes
    let descriptor = ImageDescriptor(version: version, hardware: nil).encoded
    let start = Self.descriptorOffset
    bytes.replaceSubrange(start..<start + descriptor.count, with: descriptor)
    return bytes
  }

  /// Returns a part of a Nordic DFU package.
  static func nordic(
    _ bytes: [UInt8], _ version: FirmwareVersion, _ packet: [UInt8],
    _ command: NordicInitPacket.Command
  ) -> FirmwareImage {
    FirmwareImage(
      name: "drawn.bin", format: .binary, bytes: bytes, version: version, hardware: nil,
      content: .nordic(
        NordicInitPacket(
          bytes: packet, role: .application,
          sizes: NordicSizes(application: UInt32(bytes.count)), command: command)))
  }
}
