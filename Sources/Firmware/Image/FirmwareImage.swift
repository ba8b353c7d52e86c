/// An image ready to be sent: the bytes that go to the slot, and what is known of them.
public struct FirmwareImage: Equatable, Sendable {
  /// What the bytes are to a bootloader.
  public enum Content: Equatable, Sendable {
    /// The bytes of a slot, of which only a descriptor or a sidecar file says anything.
    case plain
    /// An MCUboot image, and which of the device's it is for.
    case mcuboot(MCUbootImage, place: MCUbootPlace)
    /// A part of a Nordic DFU package, with its init packet.
    case nordic(NordicInitPacket)
  }

  /// How a person names the image: the file's last path component, or `-` for standard input; in
  /// a package the name of the file within it.
  public let name: String
  /// The kind of file that it was read from.
  public let format: Format
  /// The bytes of the slot, from its first address; gaps between addresses are filled with 0xFF.
  public let bytes: [UInt8]
  /// CRC32 (IEEE, as zlib's) of `bytes`.
  public let crc32: UInt32
  /// From the MCUboot header, the embedded descriptor, the sidecar file or the command line; `nil`
  /// when nobody says. An MCUboot header's build number is in `mcuboot` alone.
  public let version: FirmwareVersion?
  /// From the same places; `.any` when it is said to run on every board, `nil` when nobody says.
  public let hardware: HardwareID?
  /// The addresses of the file; `nil` for a raw binary, which has none.
  public let layout: AddressLayout?
  /// What the bytes are, as far as they tell.
  public let content: Content

  /// An image of bytes that the program has; nothing is looked for in them.
  public init(
    name: String, format: Format, bytes: [UInt8], version: FirmwareVersion?, hardware: HardwareID?,
    layout: AddressLayout? = nil, content: Content = .plain
  ) {
    self.name = name
    self.format = format
    self.bytes = bytes
    self.crc32 = CRC32.checksum(bytes)
    self.version = version
    self.hardware = hardware
    self.layout = layout
    self.content = content
  }
}

extension FirmwareImage {
  /// The header and entries of an MCUboot image.
  public var mcuboot: MCUbootImage? {
    if case .mcuboot(let image, _) = content { image } else { nil }
  }

  /// What the image installs, if it is an installer of Nordic's bare-metal SDK; else `nil`.
  public var installer: InstallerContent? { mcuboot?.installerContent(in: bytes) }

  /// The init packet of a part of a Nordic DFU package.
  public var initPacket: NordicInitPacket? {
    if case .nordic(let packet) = content { packet } else { nil }
  }

  /// Which image of the device this one is, and for which slot.
  public var place: MCUbootPlace {
    if case .mcuboot(_, let place) = content { place } else { MCUbootPlace() }
  }
}
