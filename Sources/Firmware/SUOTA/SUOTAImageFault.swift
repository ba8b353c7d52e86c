/// The reason why an image for a chip of Renesas was rejected.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum SUOTAImageFault: Error, Equatable, Sendable {
  /// The file does not start with the header of an image.
  case notAnImage
  /// The file ends within the header; `found` is the number of bytes in the file.
  case cutOff(found: Int)
  /// The offset of the code, stated at `offset`, is not between the header and the end of the file.
  case codeOutside(found: Int, offset: Int)
  /// The end of the code, as the header states it, differs from the size of the file, in bytes.
  case sizeDiffers(stated: Int, found: Int)
  /// The CRC32 in the header does not match the code.
  case checksumDiffers(stated: UInt32, computed: UInt32, offset: Int)
  /// A file for the complete flash, with an image at this offset.
  case completeFlash(imageOffset: Int)
}

extension SUOTAImageFault {
  /// The bytes of the file that show the error.
  package var place: Range<Int> {
    switch self {
    case .notAnImage, .cutOff, .sizeDiffers: 0..<SUOTAImage.Chip.da1468x.headerSize
    case .codeOutside(_, let offset), .checksumDiffers(_, _, let offset): offset..<offset + 4
    case .completeFlash(let offset): offset..<offset + SUOTAImage.Chip.da1453x.headerSize
    }
  }
}

extension SUOTAImageFault: CustomStringConvertible {
  public var description: String { "SUOTA image: \(sentence)" }

  private var sentence: String {
    switch self {
    case .notAnImage: "the file does not start with a header"
    case .cutOff(let found): "the file has only \(found) bytes, and ends within the header"
    case .codeOutside(let found, _):
      "the header states an offset of the code that is not in the file of \(found) bytes"
    case .sizeDiffers(let stated, let found) where stated < found:
      "the image has \(stated) bytes, but the file has \(found): data that does not belong to the "
        + "image follows it"
    case .sizeDiffers(let stated, let found):
      "the header states \(stated) bytes, but the file has \(found)"
    case .checksumDiffers(let stated, let computed, _):
      "the CRC32 in the header is \(stated.hexadecimal), but the code has \(computed.hexadecimal)"
    case .completeFlash(let offset):
      "this file is for the complete flash: it starts with another header and has an image at "
        + "offset \(offset); SUOTA accepts only one image, which 'mkimage single' creates"
    }
  }
}
