/// Why a file is no image that can be sent. Nothing was written anywhere.
public enum FirmwareFault: Error, Equatable, Sendable {
  /// A file format that carries firmware but is neither Intel HEX nor the bytes of a slot.
  public enum ForeignFormat: String, Sendable, CaseIterable {
    case elf = "an ELF file"
    case motorolaSRecord = "a Motorola S-record file"
    case uf2 = "a UF2 file"
    case zip = "a ZIP archive"
  }

  case empty
  /// The file is larger than the limit, in bytes.
  case tooLarge(limit: Int)
  case foreignFormat(ForeignFormat)
  /// Lines count from 1.
  case intelHex(line: Int, IntelHexFault)
  /// The magic of a descriptor, and behind it no 32 octets with the right CRC32.
  case descriptorDamaged(offset: Int)
  case descriptorLayoutUnknown(UInt8, offset: Int)
  case descriptorsDiffer(firstOffset: Int, secondOffset: Int)
  /// The sidecar file and the embedded descriptor contradict each other, and nobody decided.
  case versionContradicted(sidecar: FirmwareVersion, descriptor: FirmwareVersion)
  case hardwareContradicted(sidecar: HardwareID, descriptor: HardwareID)
}

extension FirmwareFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .empty: "the image has no bytes"
    case .tooLarge(let limit): "the file is larger than the limit of \(limit) bytes"
    case .foreignFormat(let format):
      "this is \(format.rawValue); convert it to Intel HEX or raw binary first"
    case .intelHex(let line, let fault): "line \(line) \(fault)"
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
    }
  }
}
