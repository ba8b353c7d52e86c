import Crypto
import OtaflashFirmware

/// Files for simulated devices, as the signing and packaging tools make them: what a test, a sweep or
/// a demonstration sends without having a build of its own.
public enum SampleImage {
  /// An MCUboot image with a SHA-256 and no signature.
  ///
  /// - Parameter body: what follows the header of 512 octets.
  public static func mcuboot(_ body: [UInt8], version: FirmwareVersion) -> [UInt8] {
    BootableImage.assemble(
      version: BootableImage.Version(
        major: version.major, minor: version.minor, revision: version.patch),
      body: body)
  }

  /// The init packet of an application for Secure DFU, unsigned (dfu-cc.proto), which fits the
  /// simulated device's settings.
  public static func secureInitPacket(
    for application: [UInt8], version: UInt32, settings: SecureBootLoaderSettings
  ) -> [UInt8] {
    let hash = number(1, 3) + delimited(2, SHA256.hash(data: application).reversed())
    let initCommand =
      number(1, version) + number(2, settings.hardwareVersion)
      + delimited(3, varint(settings.softDevice)) + number(4, 0)
      + number(7, UInt32(application.count)) + delimited(8, hash)
    return delimited(1, number(1, 1) + delimited(2, initCommand))
  }

  /// The init packet of an application for legacy DFU, which fits the simulated device's settings.
  public static func legacyInitPacket(
    for application: [UInt8], version: UInt32, settings: LegacyBootLoaderSettings
  ) -> [UInt8] {
    settings.deviceType.littleEndianOctets + settings.deviceRevision.littleEndianOctets
      + version.littleEndianOctets + UInt16(1).littleEndianOctets
      + settings.softDevice.littleEndianOctets
      + CRC16.checksum(application).littleEndianOctets
  }

  // MARK: Protocol buffers

  private static func varint(_ value: UInt32) -> [UInt8] {
    value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
  }

  private static func number(_ field: UInt32, _ value: UInt32) -> [UInt8] {
    varint(field << 3) + varint(value)
  }

  private static func delimited(_ field: UInt32, _ octets: some Sequence<UInt8>) -> [UInt8] {
    let octets = Array(octets)
    return varint(field << 3 | 2) + varint(UInt32(octets.count)) + octets
  }
}
