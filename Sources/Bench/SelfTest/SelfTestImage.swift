import OtaflashFirmware
import OtaflashSimulation

/// Images of the self-test, one for each kind of simulated board, generated in memory.
package enum SelfTestImage {
  private static let size = 48 * 1024
  /// The offset of the descriptor: after the vectors, as in a build.
  private static let descriptorOffset = 0x100
  private static let nordicVersion: UInt32 = 2

  /// The new version of simulated boards; their factory version is 1.2.0.
  package static let version = FirmwareVersion(1, 3, 0)
  /// The hardware ID in plain images.
  package static let hardware = HardwareID(0x0000_A001)

  /// Returns the image for a board of this kind.
  ///
  /// - Parameters:
  ///   - hardware: the hardware ID in a plain image.
  ///   - change: the value by which one byte is changed (XOR); images with two different values are
  ///   two releases of one program.
  /// - Throws: errors of the decoder of the image's format; such an error is a bug of this program.
  package static func of(
    _ device: DeviceKind, hardware: HardwareID = hardware, version: FirmwareVersion = version,
    change: UInt8 = 0
  ) throws -> FirmwareImage {
    let plain = bytes(for: hardware, version: version, change: change)
    if let settings: SecureBootloaderSettings = device.settings() {
      let packet = SampleImage.secureInitPacket(
        for: plain, version: nordicVersion, settings: settings)
      return nordic(plain, packet, .secure(try SecureInitPacket(decoding: packet)))
    }
    if let settings: LegacyBootloaderSettings = device.settings() {
      let packet = SampleImage.legacyInitPacket(
        for: plain, version: nordicVersion, settings: settings)
      return nordic(plain, packet, .legacy(try LegacyInitPacket(decoding: packet)))
    }
    if let settings: EspressifSettings = device.settings() {
      return try FirmwareImage.decode(
        name: "self-test.bin",
        bytes: SampleImage.espressif(plain, version: version.description, chip: settings.chip))
    }
    if device.settings() as SilabsSettings? != nil {
      return try FirmwareImage.decode(
        name: "self-test.gbl", bytes: SampleImage.gbl(plain, version: version))
    }
    if let settings = device.settings() as SUOTASettings? {
      return try FirmwareImage.decode(
        name: "self-test.img", bytes: SampleImage.suota(plain, version: "1.3.0", settings: settings)
      )
    }
    if device.settings() as TelinkServerSettings? != nil {
      return try FirmwareImage.decode(name: "self-test.bin", bytes: SampleImage.telink(plain))
    }
    if let settings: OADServerSettings = device.settings() {
      return try FirmwareImage.decode(
        name: "self-test.bin", bytes: SampleImage.oad(plain, version: version, settings: settings))
    }
    if let settings: MicrobitSettings = device.settings() {
      return try FirmwareImage.decode(
        name: "self-test.hex", bytes: SampleImage.microbit(plain, for: settings))
    }
    let isMCUboot = device.settings() as SMPServerSettings? != nil
    // The image that is decoded from a file with these bytes.
    return try FirmwareImage.decode(
      name: "self-test.bin", bytes: isMCUboot ? SampleImage.mcuboot(plain, version: version) : plain
    )
  }

  private static func nordic(
    _ bytes: [UInt8], _ packet: [UInt8], _ command: NordicInitPacket.Command
  ) -> FirmwareImage {
    FirmwareImage(
      name: "self-test.bin", format: .binary, bytes: bytes, version: version, hardware: nil,
      content: .nordic(
        NordicInitPacket(
          bytes: packet, role: .application,
          sizes: NordicSizes(application: UInt32(bytes.count)), command: command)))
  }

  /// Returns a vector table, a descriptor, and bytes similar to code. The bytes are identical in
  /// every run.
  private static func bytes(
    for hardware: HardwareID, version: FirmwareVersion, change: UInt8
  ) -> [UInt8] {
    var state: UInt32 = 0x2545_F491
    var bytes = (0..<size).map { _ -> UInt8 in
      state ^= state << 13
      state ^= state >> 17
      state ^= state << 5
      return UInt8(truncatingIfNeeded: state >> 24)
    }
    bytes.replaceSubrange(0..<8, with: [0x00, 0x00, 0x01, 0x20, 0xC1, 0x01, 0x00, 0x00])
    let descriptor = ImageDescriptor(version: version, hardware: hardware).encoded
    bytes.replaceSubrange(
      descriptorOffset..<descriptorOffset + descriptor.count, with: descriptor)
    bytes[size / 2] ^= change
    return bytes
  }
}
