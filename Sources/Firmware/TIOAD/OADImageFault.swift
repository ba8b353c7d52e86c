/// The reason why an image for TI's OAD was rejected.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum OADImageFault: Error, Equatable, Sendable {
  /// The file ends before the end of the core header; `found` is the number of bytes in the file.
  case cutOff(found: Int)
  /// The size in the header differs from the size of the file, in bytes.
  case sizeDiffers(stated: Int, found: Int)
  /// The file is a build that TI's image tool has not processed.
  case notProcessed
  /// The CRC32 in the header does not match the bytes from offset 12.
  case checksumDiffers(stated: UInt32, computed: UInt32)
  /// A segment ends after the end of the file, or is shorter than its header.
  case segmentBeyondEnd(offset: Int)
  /// The type of a segment is not defined.
  case segmentUnknown(UInt8, offset: Int)
  /// None of the first 16 segments contains code; `offset` is the end of these segments.
  case codeMissing(offset: Int)
}

extension OADImageFault {
  /// The offset in the file that shows the error.
  package var offset: Int {
    switch self {
    case .cutOff: 0
    case .sizeDiffers, .notProcessed: OADImage.lengthOffset
    case .checksumDiffers: OADImage.crcOffset
    case .segmentBeyondEnd(let offset), .segmentUnknown(_, let offset), .codeMissing(let offset):
      offset
    }
  }
}

extension OADImageFault: CustomStringConvertible {
  public var description: String { "TI OAD image: \(sentence)" }

  private var sentence: String {
    switch self {
    case .cutOff(let found): "the file has only \(found) bytes, and ends within the header"
    case .sizeDiffers(let stated, let found):
      "the header states \(stated) bytes, but the file has \(found)"
    case .notProcessed:
      "the size and the CRC32 are missing; this is a build before TI's OAD image tool has added "
        + "them"
    case .checksumDiffers(let stated, let computed):
      "the CRC32 in the header is \(stated.hexadecimal), but the content has "
        + computed.hexadecimal
    case .segmentBeyondEnd(let offset):
      "the segment at offset \(offset) does not fit the file"
    case .segmentUnknown(let kind, let offset):
      "the segment at offset \(offset) has the type \(kind), which is not defined"
    case .codeMissing(let offset): "no segment before offset \(offset) contains code"
    }
  }
}
