import Crypto

/// An application image for the bootloader of ESP-IDF: header, segments, checksum and hash
/// (ESP-IDF, `esp_image_header_t`; esptool, "Firmware Image Format").
public struct ESPImage: Equatable, Sendable {
  /// A part of the image with its load address.
  public struct Segment: Equatable, Sendable {
    /// The address in memory.
    public let address: UInt32
    /// The offset of its data in the image.
    public let offset: Int
    /// The number of bytes.
    public let size: Int
  }

  /// The signature after the image.
  public enum Signature: Equatable, Sendable {
    /// No bytes follow the image.
    case none
    /// Signature blocks of Secure Boot V2, each of 4 KiB.
    case secureBoot
    /// A signature of 256 bytes, which the library BLEOTA checks with its key.
    case appended
  }

  static let magic: UInt8 = 0xE9
  static let headerSize = 24
  private static let segmentHeaderSize = 8
  private static let segmentMaximum: UInt8 = 16
  /// The initial value of the checksum.
  private static let checksumSeed: UInt8 = 0xEF
  private static let hashSize = 32
  private static let sector = 4096
  private static let appendedSignatureSize = 256

  /// The chip for which the image was built.
  public let chip: ESPChip
  /// The entry address.
  public let entry: UInt32
  /// The lowest revision of the chip, in hundredths: 301 is v3.1.
  public let chipRevisionMinimum: UInt16
  /// The segments, in the order of the file.
  public let segments: [Segment]
  /// The description of the application.
  public let application: ESPApplication
  /// Whether a SHA-256 ends the image.
  public let hasHash: Bool
  /// The number of bytes up to and including checksum and hash.
  public let size: Int
  /// The kind of the bytes after the image.
  public let signature: Signature

  /// Returns whether the bytes start with the header of an image: the magic, 1 to 16 segments, a
  /// known SPI mode, and an entry address of the family.
  static func begins(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 8, bytes[0] == magic, (1...segmentMaximum).contains(bytes[1]),
      bytes[2] <= 5, let entry: UInt32 = bytes.littleEndian(at: 4)
    else { return false }
    return ESPProgram.instructions.contains(entry)
  }

  /// Decodes an image, and compares its checksum and its hash.
  public init(decoding bytes: [UInt8]) throws(ESPFault) {
    let header = try Header(decoding: bytes)
    let segments = try Self.segments(header.segments, of: bytes)
    // The checksum is the last byte of a block of 16 bytes.
    let checksumOffset = ((segments.last.map { $0.offset + $0.size } ?? 0) | 15)
    let end = checksumOffset + 1 + (header.hasHash ? Self.hashSize : 0)
    guard bytes.count >= end else { throw .cutOff(needed: end, found: bytes.count) }
    let checksum = segments.reduce(Self.checksumSeed) { sum, segment in
      bytes[segment.offset..<segment.offset + segment.size].reduce(sum, ^)
    }
    guard bytes[checksumOffset] == checksum else {
      throw .checksumDiffers(
        stated: bytes[checksumOffset], computed: checksum, offset: checksumOffset)
    }
    if header.hasHash {
      let hashed = checksumOffset + 1
      guard SHA256.hash(data: bytes[..<hashed]).elementsEqual(bytes[hashed..<end]) else {
        throw .hashDiffers(offset: hashed)
      }
    }
    guard let first = segments.first,
      let application = ESPApplication(
        decoding: bytes[first.offset..<first.offset + first.size])
    else { throw .notAnApplication }
    chip = header.chip
    entry = header.entry
    chipRevisionMinimum = header.revision
    hasHash = header.hasHash
    self.segments = segments
    self.application = application
    size = end
    signature = try Self.signature(of: bytes, from: end)
  }

  private static func segments(
    _ count: UInt8, of bytes: [UInt8]
  ) throws(ESPFault) -> [Segment] {
    var segments: [Segment] = []
    var offset = headerSize
    for _ in 0..<count {
      guard let address = bytes.littleEndian(UInt32.self, at: offset),
        let size = bytes.littleEndian(UInt32.self, at: offset + 4)
      else { throw .cutOff(needed: offset + segmentHeaderSize, found: bytes.count) }
      offset += segmentHeaderSize
      guard Int(size) <= bytes.count - offset else {
        throw .cutOff(needed: offset + Int(size), found: bytes.count)
      }
      segments.append(Segment(address: address, offset: offset, size: Int(size)))
      offset += Int(size)
    }
    return segments
  }

  private static func signature(
    of bytes: [UInt8], from end: Int
  ) throws(ESPFault) -> Signature {
    let count = bytes.count - end
    if count == 0 { return .none }
    if count == appendedSignatureSize { return .appended }
    // Signature blocks start at a sector; the space before them is filled with 0xFF.
    let block = (end + sector - 1) / sector * sector
    let blocks = stride(from: block, to: bytes.count, by: sector).filter {
      bytes[$0] == 0xE7 && bytes.count - $0 >= sector
    }
    guard let first = blocks.first, bytes.count.isMultiple(of: sector),
      bytes[end..<first].allSatisfy({ $0 == 0xFF })
    else { throw .trailingBytes(count: count, offset: end) }
    return .secureBoot
  }
}

extension ESPImage {
  private struct Header {
    let segments: UInt8
    let entry: UInt32
    let chip: ESPChip
    let revision: UInt16
    let hasHash: Bool

    init(decoding bytes: [UInt8]) throws(ESPFault) {
      guard bytes.count >= ESPImage.headerSize,
        let entry: UInt32 = bytes.littleEndian(at: 4),
        let chip: UInt16 = bytes.littleEndian(at: 12),
        let revision: UInt16 = bytes.littleEndian(at: 15)
      else { throw .cutOff(needed: ESPImage.headerSize, found: bytes.count) }
      segments = bytes[1]
      guard (1...ESPImage.segmentMaximum).contains(segments) else {
        throw .segmentCount(segments)
      }
      self.entry = entry
      self.chip = ESPChip(rawValue: chip)
      self.revision = revision
      hasHash = bytes[23] == 1
    }
  }
}
