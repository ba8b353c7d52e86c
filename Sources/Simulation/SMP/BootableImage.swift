import Crypto
import OtaflashFirmware

/// An image as MCUboot reads it from a slot: header, body, and the TLV areas after them.
struct BootableImage: Equatable, Sendable {
  struct Version: Hashable, Comparable, Sendable, CustomStringConvertible {
    var major: UInt8
    var minor: UInt8
    var revision: UInt16
    var build: UInt32 = 0

    /// Compares versions without the build number, as servers do by default.
    static func < (left: Version, right: Version) -> Bool {
      (left.major, left.minor, left.revision) < (right.major, right.minor, right.revision)
    }

    var description: String {
      "\(major).\(minor).\(revision)" + (build == 0 ? "" : ".\(build)")
    }
  }

  static let headerBytes = 32
  static let magic: UInt32 = 0x96F3_B83D
  private static let protectedMagic: UInt16 = 0x6908
  private static let plainMagic: UInt16 = 0x6907
  private static let infoBytes = 4
  private static let sha256Type: UInt16 = 0x10
  private static let decompressedSizeType: UInt16 = 0x70
  private static let decompressedHashType: UInt16 = 0x71

  /// One TLV after the body.
  struct Record: Equatable, Sendable {
    let type: UInt16
    let value: [UInt8]
  }

  let header: Header
  /// The SHA-256 in the image.
  let hash: [UInt8]
  /// The number of bytes that the hash covers: header, body and the protected TLVs.
  let hashedBytes: Int
  /// The total size, including the TLVs.
  let fileBytes: Int
  /// The TLVs that the hash covers.
  private let protected: [Record]
  private let records: [Record]

  var version: Version { header.version }
  var romAddress: Int? { header.romAddress }
  var isBootable: Bool { header.isBootable }

  /// The fields of a header, which are available before the rest of the image arrives.
  struct Header: Equatable, Sendable {
    private static let encrypted: UInt32 = 0x4 | 0x8
    private static let nonBootable: UInt32 = 0x10
    private static let romFixed: UInt32 = 0x100
    static let lzma2: UInt32 = 0x400
    private static let compressed = 0x200 | lzma2

    let version: Version
    /// The address for which the image was linked, if the header has one.
    let romAddress: Int?
    let isBootable: Bool
    let isEncrypted: Bool
    let isCompressed: Bool
    let headerSize: Int
    let bodySize: Int
    let protectedSize: Int

    /// Returns `nil` if the bytes are not a header.
    init?(decoding bytes: some RandomAccessCollection<UInt8>) {
      let bytes = Array(bytes.prefix(headerBytes))
      guard bytes.count == headerBytes, bytes.littleEndianWord(at: 0) == magic else { return nil }
      let flags = bytes.littleEndianWord(at: 16)
      romAddress = flags & Self.romFixed == 0 ? nil : Int(bytes.littleEndianWord(at: 4))
      isBootable = flags & Self.nonBootable == 0
      isEncrypted = flags & Self.encrypted != 0
      isCompressed = flags & Self.compressed != 0
      headerSize = Int(bytes.littleEndianHalfword(at: 8))
      protectedSize = Int(bytes.littleEndianHalfword(at: 10))
      bodySize = Int(bytes.littleEndianWord(at: 12))
      version = Version(
        major: bytes[20], minor: bytes[21], revision: bytes.littleEndianHalfword(at: 22),
        build: bytes.littleEndianWord(at: 24))
    }
  }

  /// - Parameter bytes: a slot or a file. Returns `nil` unless the TLV areas are complete and
  ///   contain one hash, which is not verified.
  init?(decoding bytes: ArraySlice<UInt8>) {
    guard let header = Header(decoding: bytes) else { return nil }
    let start = header.headerSize + header.bodySize
    guard header.headerSize >= Self.headerBytes,
      start + header.protectedSize + Self.infoBytes <= bytes.count
    else { return nil }
    var protected: [Record] = []
    if header.protectedSize > 0 {
      guard let area = Self.area(Self.protectedMagic, in: bytes, at: start),
        area.end - start == header.protectedSize
      else { return nil }
      protected = area.records
    }
    let covered = start + header.protectedSize
    guard let area = Self.area(Self.plainMagic, in: bytes, at: covered) else { return nil }
    let hashes = area.records.filter { $0.type == Self.sha256Type }
    guard hashes.count == 1, hashes[0].value.count == 32 else { return nil }
    self.header = header
    hash = hashes[0].value
    hashedBytes = covered
    fileBytes = area.end
    self.protected = protected
    records = area.records
  }

  /// Returns the TLVs of an area that starts at an offset, and its end; `nil` unless the area is
  /// complete.
  private static func area(
    _ magic: UInt16, in bytes: ArraySlice<UInt8>, at start: Int
  ) -> (records: [Record], end: Int)? {
    guard bytes.littleEndianHalfword(at: start) == magic else { return nil }
    let end = start + Int(bytes.littleEndianHalfword(at: start + 2))
    guard end <= bytes.count else { return nil }
    var records: [Record] = []
    var position = start + infoBytes
    while position < end {
      guard position + infoBytes <= end else { return nil }
      let type = bytes.littleEndianHalfword(at: position)
      let size = Int(bytes.littleEndianHalfword(at: position + 2))
      position += infoBytes
      guard position + size <= end else { return nil }
      let first = bytes.startIndex + position
      records.append(Record(type: type, value: Array(bytes[first..<first + size])))
      position += size
    }
    return (records, end)
  }

  /// The hash of the decompressed image; `nil` if the image is not compressed or does not contain
  /// the hash.
  var decompressedHash: [UInt8]? {
    guard header.isCompressed else { return nil }
    return protected.first { $0.type == Self.decompressedHashType && $0.value.count == 32 }?.value
  }

  /// Returns whether a protected TLV has this value.
  func hasProtectedRecord(type: UInt16, value: [UInt8]) -> Bool {
    protected.contains { $0.type == type && $0.value == value }
  }

  private var decompressedSize: Int? {
    protected.first { $0.type == Self.decompressedSizeType && $0.value.count == 4 }
      .map { Int($0.value.littleEndianWord(at: 0)) }
  }

  /// Returns whether MCUboot starts this image.
  func isStartable(in bytes: ArraySlice<UInt8>, by loader: Rules) -> Bool {
    guard isBootable, !header.isEncrypted else { return false }
    if header.isCompressed {
      guard loader.decompresses, decompressedHash != nil, let size = decompressedSize,
        header.headerSize + size <= loader.sizeMaximum
      else { return false }
    }
    let digest = SHA256.hash(data: bytes.prefix(hashedBytes))
    guard Array(digest) == hash else { return false }
    return loader.key?.hasSigned(records, covering: digest) ?? true
  }

  /// The build configuration of MCUboot.
  struct Rules: Sendable {
    /// Whether MCUboot decompresses compressed images instead of rejecting them.
    var decompresses = false
    /// The key that verifies signatures; `nil` = no verification.
    var key: ImageKey?
    /// The maximum size of an image in bytes.
    var sizeMaximum: Int
  }
}

extension BootableImage {
  /// Assembles an image like the signing tool, without a signature.
  ///
  /// - Parameter protected: the TLVs that the hash covers.
  static func assemble(
    version: Version, body: [UInt8], headerSize: Int = 512, flags: UInt32 = 0,
    loadAddress: UInt32 = 0, protected: [Record] = []
  ) -> [UInt8] {
    let covered = protected.isEmpty ? [] : area(protectedMagic, protected)
    var header = magic.littleEndianBytes + loadAddress.littleEndianBytes
    header += UInt16(headerSize).littleEndianBytes + UInt16(covered.count).littleEndianBytes
    header += UInt32(body.count).littleEndianBytes + flags.littleEndianBytes
    header += [version.major, version.minor] + version.revision.littleEndianBytes
    header += version.build.littleEndianBytes
    header += [UInt8](repeating: 0, count: headerSize - header.count)
    let hashed = header + body + covered
    return hashed
      + area(plainMagic, [Record(type: sha256Type, value: Array(SHA256.hash(data: hashed)))])
  }

  private static func area(_ magic: UInt16, _ records: [Record]) -> [UInt8] {
    let bytes = records.flatMap { record in
      record.type.littleEndianBytes + UInt16(record.value.count).littleEndianBytes + record.value
    }
    return magic.littleEndianBytes + UInt16(bytes.count + infoBytes).littleEndianBytes + bytes
  }

  /// Returns the TLVs of a compressed image: the decompressed size, and the hash of the
  /// decompressed image.
  static func decompressed(size: Int, hash: [UInt8]) -> [Record] {
    [
      Record(type: decompressedSizeType, value: UInt32(size).littleEndianBytes),
      Record(type: decompressedHashType, value: hash),
    ]
  }
}
