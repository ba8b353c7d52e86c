/// The reason why a file cannot be sent. Nothing was written to the device.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum FirmwareFault: Error, Equatable, Sendable {
  /// A file format that can contain firmware, but is not supported.
  public enum ForeignFormat: String, Sendable, CaseIterable {
    /// A ZIP archive that contains no files, only the end of its directory.
    case emptyZip = "a ZIP archive without files"
    /// A byte order mark, followed by text in units of two bytes.
    case utf16 = "text in UTF-16; HEX files and S-records are read in ASCII or UTF-8"
  }

  /// The file, or a file in the package, is empty.
  case empty
  /// The file is larger than the limit, in bytes.
  case tooLarge(limit: Int)
  /// The format is recognized by its first bytes, but not supported.
  case foreignFormat(ForeignFormat)
  /// A violation of a file format, with its position in the file.
  case malformed(FormatFault)
  /// An error in the addresses of a file.
  case addresses(AddressFault)
  /// An error in an image for MCUboot.
  case mcuboot(MCUbootFault)
  /// An error in a file for an ESP32.
  case esp(ESPFault)
  /// An error in a GBL file of Silicon Labs.
  case gbl(GBLFault)
  /// An error in an image for Telink chips.
  case telink(TelinkImageFault)
  /// An error in an image for a chip of Renesas.
  case suota(SUOTAImageFault)
  /// An error in an image for TI's OAD.
  case oad(OADImageFault)
  /// An error in the archive of a package.
  case zip(ZipFault)
  /// An error in a package's `manifest.json`.
  case manifest(ManifestFault)
  /// An error in a package of resources.
  case resources(ResourceFault)
  /// An error in the init packet in a file of a Nordic DFU package.
  case initPacket(file: String, InitPacketFault)
  /// An error in a file of a package.
  indirect case inFile(String, FirmwareFault)
  /// One image is required, but the package has this number of images.
  case severalImages(Int)
  /// The image contains the magic of a descriptor, but the CRC32 of the descriptor is wrong or
  /// missing.
  case descriptorDamaged(offset: Int)
  /// A valid descriptor of a later layout (docs/image-descriptor.md).
  case descriptorLayoutUnknown(UInt8, offset: Int)
  /// Two different descriptors in one image; the offsets refer to their first bytes.
  case descriptorsDiffer(firstOffset: Int, secondOffset: Int)
  /// The sidecar file and the embedded descriptor contradict each other, and no override resolves
  /// the contradiction.
  case versionContradicted(sidecar: FirmwareVersion, descriptor: FirmwareVersion)
  /// Same as `versionContradicted`, for the hardware id of the image.
  case hardwareContradicted(sidecar: HardwareID, descriptor: HardwareID)
  /// The MCUboot header and the embedded descriptor contradict each other.
  case headerContradicted(header: FirmwareVersion, descriptor: FirmwareVersion)
}

extension FirmwareFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .empty: "the image has no bytes"
    case .tooLarge(let limit): "the file is larger than the limit of \(limit) bytes"
    case .foreignFormat(let format): "this is \(format.rawValue)"
    case .malformed(let fault): "\(fault)"
    case .addresses(let fault): "\(fault)"
    case .mcuboot(let fault): "\(fault)"
    case .esp(let fault): "\(fault)"
    case .gbl(let fault): "\(fault)"
    case .telink(let fault): "\(fault)"
    case .suota(let fault): "\(fault)"
    case .oad(let fault): "\(fault)"
    case .zip(let fault): "\(fault)"
    case .manifest(let fault): "\(fault)"
    case .resources(let fault): "\(fault)"
    case .initPacket(let file, let fault): "'\(file)': \(fault)"
    case .inFile(let file, let fault): "'\(file)': \(fault)"
    case .severalImages(let count):
      "the package has \(count) images; exactly one is required"
    case .descriptorDamaged(let offset):
      "the image descriptor at offset \(offset) is damaged: its CRC32 does not match"
    case .descriptorLayoutUnknown(let layout, let offset):
      "the image descriptor at offset \(offset) has layout \(layout); "
        + "this version supports layout \(ImageDescriptor.layout)"
    case .descriptorsDiffer(let first, let second):
      "the image descriptors at offsets \(first) and \(second) contradict each other"
    case .versionContradicted(let sidecar, let descriptor):
      "the sidecar file states version \(sidecar), but the image states \(descriptor)"
    case .hardwareContradicted(let sidecar, let descriptor):
      "the sidecar file states hardware \(sidecar), but the image states \(descriptor)"
    case .headerContradicted(let header, let descriptor):
      "the MCUboot header states version \(header), but the image descriptor states \(descriptor)"
    }
  }
}
