/// The init packet of a firmware file, which a Nordic bootloader receives before the file, so that
/// it can reject the file early.
public struct NordicInitPacket: Equatable, Sendable {
  /// The command, whose layout depends on the protocol.
  public enum Command: Equatable, Sendable {
    /// The init packet of SDK 12 and later.
    case secure(SecureInitPacket)
    /// The init packet of SDK 11 and earlier.
    case legacy(LegacyInitPacket)
  }

  /// The bytes in the package, which are sent to the device unchanged.
  public let bytes: [UInt8]
  /// The role of the image on the device.
  public let role: NordicRole
  /// The sizes of the parts of the image.
  public let sizes: NordicSizes
  /// The decoded packet.
  public let command: Command

  /// Creates an init packet from its decoded parts.
  public init(bytes: [UInt8], role: NordicRole, sizes: NordicSizes, command: Command) {
    self.bytes = bytes
    self.role = role
    self.sizes = sizes
    self.command = command
  }
}

extension NordicInitPacket {
  /// Decodes the init packet of a part of a package.
  /// - Parameter firmwareSize: the size of the part's firmware file in bytes. A packet of Legacy
  ///   DFU does not contain the sizes of parts; the manifest states them for a combined file, and
  ///   other files have only one part.
  init(
    decoding bytes: [UInt8], for part: NordicManifest.Part, firmwareSize: Int, isLegacy: Bool
  ) throws(InitPacketFault) {
    guard !isLegacy else {
      let packet = try LegacyInitPacket(decoding: bytes)
      self.init(
        bytes: bytes, role: part.role, sizes: part.legacySizes(firmwareSize: firmwareSize),
        command: .legacy(packet))
      return
    }
    let packet = try SecureInitPacket(decoding: bytes)
    guard packet.content.role == part.role else {
      throw .roleDiffers(packet: packet.content.role, manifest: part.role)
    }
    self.init(bytes: bytes, role: part.role, sizes: packet.sizes, command: .secure(packet))
  }

  /// Returns a description of the first inconsistency between the sizes in packet, manifest and
  /// firmware file; `nil` if the sizes agree.
  func difference(from firmwareSize: Int, manifest: NordicSizes?) -> String? {
    if sizes.total != firmwareSize {
      return "sizes add up to \(sizes.total) bytes, the firmware file has \(firmwareSize)"
    }
    if case .legacy(let packet) = command, case .sha256(_, let stated, _) = packet.integrity,
      Int(stated) != firmwareSize
    {
      return "the init packet is for \(stated) bytes, the firmware file has \(firmwareSize)"
    }
    guard let manifest, role == .softdeviceAndBootloader else { return nil }
    guard manifest.softdevice == sizes.softdevice, manifest.bootloader == sizes.bootloader else {
      return "SoftDevice \(manifest.softdevice) and \(sizes.softdevice) bytes, "
        + "bootloader \(manifest.bootloader) and \(sizes.bootloader)"
    }
    return nil
  }
}

extension NordicManifest.Part {
  fileprivate func legacySizes(firmwareSize: Int) -> NordicSizes {
    let size = UInt32(clamping: firmwareSize)
    return switch role {
    case .application: NordicSizes(application: size)
    case .softdevice: NordicSizes(softdevice: size)
    case .bootloader: NordicSizes(bootloader: size)
    case .softdeviceAndBootloader: sizes ?? NordicSizes()
    }
  }
}
