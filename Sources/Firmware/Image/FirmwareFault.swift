/// Why a file is no image that can be sent. Nothing was written anywhere.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum FirmwareFault: Error, Equatable, Sendable {
  /// A file format that may carry firmware and is not read.
  public enum ForeignFormat: String, Sendable, CaseIterable {
    /// A ZIP archive that is nothing but the end of its directory.
    case emptyZip = "a ZIP archive without files"
    /// A byte order mark, and text in units of two bytes behind it.
    case utf16 = "text in UTF-16; HEX files and S-records are read in ASCII or UTF-8"
  }

  /// The file has no bytes, or its format holds none.
  case empty
  /// The file is larger than the limit, in bytes.
  case tooLarge(limit: Int)
  /// It is known by its beginning, and not read.
  case foreignFormat(ForeignFormat)
  /// What a format forbids, with its place in the file.
  case malformed(FormatFault)
  /// The addresses of a file that has some.
  case addresses(AddressFault)
  /// What is wrong with an image for MCUboot.
  case mcuboot(MCUbootFault)
  /// What is wrong with the archive that a package is.
  case zip(ZipFault)
  /// What is wrong with a package's `manifest.json`.
  case manifest(ManifestFault)
  /// The init packet in a file of a Nordic DFU package.
  case initPacket(file: String, InitPacketFault)
  /// A fault of a file within a package.
  indirect case inFile(String, FirmwareFault)
  /// One image was wanted, and the package has so many.
  case severalImages(Int)
  /// The magic of a descriptor, and behind it no 32 bytes with the right CRC32.
  case descriptorDamaged(offset: Int)
  /// The descriptor is whole, and of a later layout (docs/image-descriptor.md).
  case descriptorLayoutUnknown(UInt8, offset: Int)
  /// Two descriptors in one image say different things; offsets are their first bytes.
  case descriptorsDiffer(firstOffset: Int, secondOffset: Int)
  /// The sidecar file and the embedded descriptor contradict each other, and nobody decided.
  case versionContradicted(sidecar: FirmwareVersion, descriptor: FirmwareVersion)
  /// As `versionContradicted`, of the board that the image is for.
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
    case .zip(let fault): "\(fault)"
    case .manifest(let fault): "\(fault)"
    case .initPacket(let file, let fault): "'\(file)': \(fault)"
    case .inFile(let file, let fault): "'\(file)': \(fault)"
    case .severalImages(let count):
      "the package has \(count) images where one is wanted"
    case .descriptorDamaged(let offset):
      "the image descriptor at offset \(offset) is damaged: its CRC32 does not match"
    case .descriptorLayoutUnknown(let layout, let offset):
      "the image descriptor at offset \(offset) has layout \(layout); "
        + "this version reads layout \(ImageDescriptor.layout)"
    case .descriptorsDiffer(let first, let second):
      "the image descriptors at offsets \(first) and \(second) contradict each other"
    case .versionContradicted(let sidecar, let descriptor):
      "the sidecar file says version \(sidecar), the image itself \(descriptor)"
    case .hardwareContradicted(let sidecar, let descriptor):
      "the sidecar file says hardware \(sidecar), the image itself \(descriptor)"
    case .headerContradicted(let header, let descriptor):
      "the MCUboot header says version \(header), the image descriptor \(descriptor)"
    }
  }
}
