/// The header and the trailer of an image for Telink chips (TLSR82xx).
///
/// The file is the content of the flash: code, the mark `KNLT` at offset 8, and the size of the
/// file as a 32-bit number at offset 0x18. The last 4 bytes are a CRC32 over everything before
/// them, without the final inversion. Telink's build adds these bytes after linking; a device
/// rejects an image without them.
public struct TelinkImage: Equatable, Sendable {
  /// The mark by which the boot ROM recognizes an image.
  package static let mark: [UInt8] = Array("KNLT".utf8)
  /// The offset of the mark.
  package static let markOffset = 8
  /// The offset of the size.
  package static let sizeOffset = 0x18
  /// The number of bytes up to the end of the size.
  package static let headerSize = sizeOffset + 4
  /// The number of bytes of the trailer.
  package static let trailerSize = 4
  /// A device accepts only sizes that are a multiple of this number plus `trailerSize`.
  package static let granularity = 16

  /// The checksum in the trailer: the CRC32 of all bytes before it, without the final inversion.
  public let checksum: UInt32

  /// Returns whether the bytes have the mark of an image.
  package static func begins(_ bytes: [UInt8]) -> Bool {
    bytes.dropFirst(markOffset).starts(with: mark)
  }

  /// Checks the size and the trailer.
  ///
  /// - Parameter bytes: the complete file, which has the mark.
  public init(decoding bytes: [UInt8]) throws(TelinkImageFault) {
    guard bytes.count >= Self.headerSize + Self.trailerSize,
      let stated: UInt32 = bytes.littleEndian(at: Self.sizeOffset),
      let trailer: UInt32 = bytes.littleEndian(at: bytes.count - Self.trailerSize)
    else { throw .cutOff(found: bytes.count) }
    let computed = Self.checksum(of: bytes.dropLast(Self.trailerSize))
    guard computed == trailer else {
      if Self.isComplete(bytes, endingAt: Int(stated)) {
        throw .sizeDiffers(stated: Int(stated), found: bytes.count)
      }
      throw Self.lacksTrailer(bytes.count, stated: Int(stated))
        ? .trailerMissing(found: bytes.count)
        : .checksumDiffers(stated: trailer, computed: computed, offset: bytes.count - 4)
    }
    guard Int(stated) == bytes.count else {
      throw .sizeDiffers(stated: Int(stated), found: bytes.count)
    }
    guard bytes.count % Self.granularity == Self.trailerSize else {
      throw .wrongGranularity(found: bytes.count)
    }
    checksum = trailer
  }

  /// Returns whether a complete image ends at this offset, so that other data follows it.
  private static func isComplete(_ bytes: [UInt8], endingAt end: Int) -> Bool {
    guard end >= headerSize + trailerSize, end < bytes.count,
      let trailer: UInt32 = bytes.littleEndian(at: end - trailerSize)
    else { return false }
    return checksum(of: bytes[..<(end - trailerSize)]) == trailer
  }

  /// Returns whether a file with a wrong trailer is a build to which the trailer was not added.
  /// Either its header states a size that includes the missing trailer, or the size of the file
  /// does not have the remainder that all complete images have.
  private static func lacksTrailer(_ found: Int, stated: Int) -> Bool {
    stated == found + trailerSize || stated <= found && found % granularity != trailerSize
  }

  /// Returns the CRC32 of IEEE 802.3 without the final inversion. Check value: `123456789` yields
  /// `0x340BC6D9`.
  package static func checksum(of bytes: some Collection<UInt8>) -> UInt32 {
    ~CRC32.checksum(bytes)
  }
}
