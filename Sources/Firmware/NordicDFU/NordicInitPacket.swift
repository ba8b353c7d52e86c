/// The init packet of a firmware file: what a Nordic bootloader is told before the first byte of
/// it, so that it can refuse.
public struct NordicInitPacket: Equatable, Sendable {
  /// The protocol decides on the layout.
  public enum Command: Equatable, Sendable {
    /// Of SDK 12 and later.
    case secure(SecureInitPacket)
    /// Of SDK 11 and earlier.
    case legacy(LegacyInitPacket)
  }

  /// As they are in the package and go to the device.
  public let bytes: [UInt8]
  /// What the image is for the device.
  public let role: NordicRole
  /// How large its parts are.
  public let sizes: NordicSizes
  /// What the packet says.
  public let command: Command

  /// An init packet that was read.
  public init(bytes: [UInt8], role: NordicRole, sizes: NordicSizes, command: Command) {
    self.bytes = bytes
    self.role = role
    self.sizes = sizes
    self.command = command
  }
}

extension NordicInitPacket {
  /// Reads the init packet of a part of a package.
  /// - Parameter firmwareSize: of the part's firmware file, in bytes. A packet of Legacy DFU does
  ///   not say how many bytes are for whom; the manifest does for a combined file, and otherwise
  ///   all are for one.
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

  /// What does not fit together of the sizes that packet, manifest and firmware file have.
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
