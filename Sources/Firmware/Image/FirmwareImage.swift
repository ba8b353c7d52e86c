/// An image ready to be sent: the bytes of the slot, and their metadata.
public struct FirmwareImage: Equatable, Sendable {
  /// The format of the bytes for the bootloader.
  public enum Content: Equatable, Sendable {
    /// The bytes of a slot, which only a descriptor or a sidecar file describes.
    case plain
    /// An MCUboot image, and its place on the device.
    case mcuboot(MCUbootImage, place: MCUbootPlace)
    /// A part of a Nordic DFU package, with its init packet.
    case nordic(NordicInitPacket)
    /// An application image for the bootloader of ESP-IDF.
    case esp(ESPImage)
    /// A GBL file of Silicon Labs.
    case gbl(GBLFile)
    /// An image for Telink chips.
    case telink(TelinkImage)
    /// An image for a chip of Renesas.
    case suota(SUOTAImage)
    /// An image for TI's OAD.
    case oad(OADImage)
    /// The programs of a HEX file for the micro:bit; the bytes of the image are the application of
    /// the last program.
    case microbit(MicrobitImage)
  }

  /// The display name of the image: the file's last path component, or `-` for standard input; in a
  /// package, the name of the file within it.
  public let name: String
  /// The format of the file.
  public let format: Format
  /// The bytes of the slot, from its first address. Gaps between addresses are filled with 0x00 for
  /// an ELF file, and with 0xFF for other files.
  public let bytes: [UInt8]
  /// The CRC32 (IEEE, as in zlib) of `bytes`.
  public let crc32: UInt32
  /// The version from the header of the image (MCUboot, Renesas or TI OAD), the embedded
  /// descriptor, ESP-IDF's description, the sidecar file or the command line; `nil` if unknown. The
  /// build number of an MCUboot header is only in `mcuboot`.
  public let version: FirmwareVersion?
  /// The hardware id from the embedded descriptor, the sidecar file or the command line; `.any` for
  /// an image for all boards, `nil` if unknown.
  public let hardware: HardwareID?
  /// The addresses of the file; `nil` for a raw binary, which has none.
  public let layout: AddressLayout?
  /// The recognized structure of the bytes.
  public let content: Content

  /// Creates an image from bytes in memory, which are not analyzed.
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
  /// The header and entries of an MCUboot image; `nil` for other images.
  public var mcuboot: MCUbootImage? {
    if case .mcuboot(let image, _) = content { image } else { nil }
  }

  /// The content of an installer of Nordic's bare-metal SDK; `nil` for other images.
  public var installer: InstallerContent? { mcuboot?.installerContent(in: bytes) }

  /// The init packet of a part of a Nordic DFU package; `nil` for other images.
  public var initPacket: NordicInitPacket? {
    if case .nordic(let packet) = content { packet } else { nil }
  }

  /// The header and segments of an image for an ESP32; `nil` for other images.
  public var esp: ESPImage? {
    if case .esp(let image) = content { image } else { nil }
  }

  /// The tags of a GBL file of Silicon Labs; `nil` for other images.
  public var gbl: GBLFile? {
    if case .gbl(let file) = content { file } else { nil }
  }

  /// The trailer of an image for Telink chips; `nil` for other images.
  public var telink: TelinkImage? {
    if case .telink(let image) = content { image } else { nil }
  }

  /// The header of an image for a chip of Renesas; `nil` for other images.
  public var suota: SUOTAImage? {
    if case .suota(let image) = content { image } else { nil }
  }

  /// The header of an image for TI's OAD; `nil` for other images.
  public var oad: OADImage? {
    if case .oad(let image) = content { image } else { nil }
  }

  /// The programs of a HEX file for the micro:bit; `nil` for other images.
  public var microbit: MicrobitImage? {
    if case .microbit(let image) = content { image } else { nil }
  }

  /// The image number and slot on the device; image 0 and any free slot unless the image is an
  /// MCUboot image.
  public var place: MCUbootPlace {
    if case .mcuboot(_, let place) = content { place } else { MCUbootPlace() }
  }
}
