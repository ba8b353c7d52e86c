import Crypto
import OtaflashFirmware

/// Sample files for simulated devices in the formats of the signing and packaging tools, for tests,
/// sweeps and demonstrations without a firmware build.
public enum SampleImage {
  /// Returns an MCUboot image with a SHA-256 and no signature.
  ///
  /// - Parameters:
  ///   - body: the bytes after the header of 512 bytes.
  ///   - version: the version in the header.
  public static func mcuboot(_ body: [UInt8], version: FirmwareVersion) -> [UInt8] {
    BootableImage.assemble(
      version: BootableImage.Version(
        major: version.major, minor: version.minor, revision: version.patch),
      body: body)
  }

  /// Returns an MCUboot image with the compression flag (LZMA2), and with its decompressed size and
  /// hash. The body is not LZMA data, because the simulation does not decompress it.
  ///
  /// - Parameters:
  ///   - body: the bytes after the 512-byte header; the decompressed size is twice their count.
  ///   - version: the version in the header.
  public static func compressed(_ body: [UInt8], version: FirmwareVersion) -> [UInt8] {
    let plain = mcuboot(body + body, version: version)
    guard let hash = BootableImage(decoding: plain[...])?.hash else {
      preconditionFailure("an assembled image can be decoded")
    }
    return BootableImage.assemble(
      version: BootableImage.Version(
        major: version.major, minor: version.minor, revision: version.patch),
      body: body, flags: BootableImage.Header.lzma2,
      protected: BootableImage.decompressed(size: 2 * body.count, hash: hash))
  }

  /// Returns the init packet of an application for Secure DFU (dfu-cc.proto), which matches the
  /// simulated device's settings. The packet is signed with `SampleKey`, or unsigned if the device
  /// does not verify signatures.
  public static func secureInitPacket(
    for application: [UInt8], version: UInt32, settings: SecureBootloaderSettings
  ) -> [UInt8] {
    let hash = number(1, 3) + delimited(2, SHA256.hash(data: application).reversed())
    let initCommand =
      number(1, version) + number(2, settings.hardwareVersion)
      + delimited(3, varint(settings.softDevice)) + number(4, 0)
      + number(7, UInt32(application.count)) + delimited(8, hash)
    let command = delimited(1, number(1, 1) + delimited(2, initCommand))
    if settings.verification == .none { return command }
    return signed(command, initCommand)
  }

  private static func signed(_ command: [UInt8], _ initCommand: [UInt8]) -> [UInt8] {
    delimited(
      2, command + number(2, 0) + delimited(3, SampleKey.signature(of: initCommand)))
  }

  /// Returns the init packet of an application for legacy DFU, which matches the simulated device's
  /// settings.
  public static func legacyInitPacket(
    for application: [UInt8], version: UInt32, settings: LegacyBootloaderSettings
  ) -> [UInt8] {
    settings.deviceType.littleEndianBytes + settings.deviceRevision.littleEndianBytes
      + version.littleEndianBytes + UInt16(1).littleEndianBytes
      + settings.softDevice.littleEndianBytes
      + CRC16.checksum(application).littleEndianBytes
  }

  /// Returns an image for Telink chips.
  ///
  /// - Parameter body: the content without the trailer. Bytes 8…11 and 0x18…0x1B are replaced, and
  ///   the content is padded to a multiple of 16 bytes.
  public static func telink(_ body: [UInt8]) -> [UInt8] { TelinkSample.image(body) }

  // MARK: Protocol buffers

  private static func varint(_ value: UInt32) -> [UInt8] {
    value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
  }

  private static func number(_ field: UInt32, _ value: UInt32) -> [UInt8] {
    varint(field << 3) + varint(value)
  }

  private static func delimited(_ field: UInt32, _ bytes: some Sequence<UInt8>) -> [UInt8] {
    let bytes = Array(bytes)
    return varint(field << 3 | 2) + varint(UInt32(bytes.count)) + bytes
  }
}
