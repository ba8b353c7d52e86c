/// The reason why an image for Telink chips was rejected.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum TelinkImageFault: Error, Equatable, Sendable {
  /// The file ends before the size and the trailer; `found` is the number of bytes in the file.
  case cutOff(found: Int)
  /// The size in the header differs from the size of the file, in bytes.
  case sizeDiffers(stated: Int, found: Int)
  /// The file is a build without its trailer.
  case trailerMissing(found: Int)
  /// The checksum in the trailer does not match the bytes before it.
  case checksumDiffers(stated: UInt32, computed: UInt32, offset: Int)
  /// The size is not a multiple of 16 bytes plus the trailer.
  case wrongGranularity(found: Int)
}

extension TelinkImageFault {
  /// The bytes of the file that show the error.
  package var place: Range<Int> {
    switch self {
    case .cutOff, .sizeDiffers: 0..<TelinkImage.headerSize
    case .trailerMissing(let found), .wrongGranularity(let found): max(0, found - 16)..<found
    case .checksumDiffers(_, _, let offset): offset..<offset + TelinkImage.trailerSize
    }
  }
}

extension TelinkImageFault: CustomStringConvertible {
  public var description: String { "Telink image: \(sentence)" }

  private var sentence: String {
    switch self {
    case .cutOff(let found): "the file has only \(found) bytes, and ends within the header"
    case .sizeDiffers(let stated, let found) where stated < found:
      "the image has \(stated) bytes, but the file has \(found): data that does not belong to the "
        + "image follows it, such as a signature of the vendor"
    case .sizeDiffers(let stated, let found):
      "the header states \(stated) bytes, but the file has \(found)"
    case .trailerMissing:
      "the CRC32 at the end is missing; this is a build before Telink's tool has added the CRC32 "
        + "and the size"
    case .checksumDiffers(let stated, let computed, _):
      "the CRC32 at the end is \(stated.hexadecimal), but the content has \(computed.hexadecimal)"
    case .wrongGranularity(let found):
      "the file has \(found) bytes; devices accept only a multiple of 16, plus 4 for the CRC32"
    }
  }
}
