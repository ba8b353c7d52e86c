/// The reason why a GBL file was rejected. Offsets count from the file's first byte.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum GBLFault: Error, Equatable, Sendable {
  /// The file does not start with a header tag.
  case noHeader
  /// The file has version 4 of the format, for devices of Series 3.
  case versionFour
  /// The header states a version other than 3.
  case versionNotSupported(UInt32)
  /// The type in the header has flags other than encrypted and signed.
  case typeNotSupported(UInt32)
  /// The file ends before its end tag; `offset` is the number of bytes in the file.
  case endMissing(offset: Int)
  /// A tag whose identifier the format does not define.
  case unknownTag(UInt32, offset: Int)
  /// A tag whose stated length exceeds the file.
  case tagBeyondEnd(GBLTag.Kind, length: Int, left: Int, offset: Int)
  /// The length of a tag does not match its type.
  case wrongLength(GBLTag.Kind, found: Int, offset: Int)
  /// A tag follows a tag that it must precede.
  case wrongOrder(GBLTag.Kind, after: GBLTag.Kind, offset: Int)
  /// A second tag of a type that a file contains once.
  case repeated(GBLTag.Kind, offset: Int)
  /// The file has more tags than any image.
  case tooManyTags(limit: Int, offset: Int)
  /// The type in the header requires this tag.
  case missing(GBLTag.Kind)
  /// The type in the header excludes this tag.
  case notDeclared(GBLTag.Kind, offset: Int)
  /// The file contains nothing that a device could install.
  case nothingToInstall
  /// The CRC32 in the end tag differs from the CRC32 of the file.
  case crcDiffers(stated: UInt32, computed: UInt32, offset: Int)
  /// Bytes follow the end tag.
  case bytesAfterEnd(count: Int, offset: Int)
}

extension GBLFault {
  /// The position of the error in the file, from 0.
  public var offset: Int {
    switch self {
    case .noHeader, .versionFour, .missing, .nothingToInstall: 0
    case .versionNotSupported: 8
    case .typeNotSupported: 12
    case .endMissing(let offset), .unknownTag(_, let offset), .tagBeyondEnd(_, _, _, let offset),
      .wrongLength(_, _, let offset), .wrongOrder(_, _, let offset), .repeated(_, let offset),
      .tooManyTags(_, let offset), .notDeclared(_, let offset), .crcDiffers(_, _, let offset),
      .bytesAfterEnd(_, let offset):
      offset
    }
  }
}

extension GBLFault: CustomStringConvertible {
  public var description: String { "GBL file, offset \(offset): \(sentence)" }

  private var sentence: String {
    switch self {
    case .noHeader: "the file does not start with a header tag"
    case .versionFour:
      "version 4 of the format, which only the bootloaders of Series 3 support"
    case .versionNotSupported(let version):
      "the version of the format is 0x\(version.hexadecimal), not 0x03000000"
    case .typeNotSupported(let type):
      "the type 0x\(type.hexadecimal) has flags other than encrypted (1) and signed (0x100)"
    case .endMissing: "the file ends before its end tag; it is truncated"
    case .unknownTag(let id, _): "the format does not define the tag 0x\(id.hexadecimal)"
    case .tagBeyondEnd(let kind, let length, let left, _):
      "the tag '\(kind)' has \(length) bytes, but the file has only \(left) more; it is truncated"
    case .wrongLength(let kind, let found, _):
      "the tag '\(kind)' has \(found) bytes, which its type does not permit"
    case .wrongOrder(let kind, let previous, _):
      "the tag '\(kind)' follows the tag '\(previous)', but must precede it"
    case .repeated(let kind, _): "a second tag '\(kind)'"
    case .tooManyTags(let limit, _): "the file has more than \(limit) tags"
    case .missing(let kind): "the header requires a tag '\(kind)', which is missing"
    case .notDeclared(let kind, _): "the type in the header excludes the tag '\(kind)'"
    case .nothingToInstall: "the file contains nothing that a device could install"
    case .crcDiffers(let stated, let computed, _):
      "the CRC32 is 0x\(computed.hexadecimal), but the end tag states 0x\(stated.hexadecimal); "
        + "the file was changed"
    case .bytesAfterEnd(let count, _): "\(count) bytes follow the end tag"
    }
  }
}
