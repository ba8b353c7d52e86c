import Crypto
import OtaflashFirmware

/// An image as MCUboot reads it from a slot: header, body, and the areas of type-length-value
/// records behind them.
struct BootableImage: Equatable, Sendable {
  struct Version: Hashable, Comparable, Sendable, CustomStringConvertible {
    var major: UInt8
    var minor: UInt8
    var revision: UInt16
    var build: UInt32 = 0

    /// The build is not compared, as servers are built by default.
    static func < (left: Version, right: Version) -> Bool {
      (left.major, left.minor, left.revision) < (right.major, right.minor, right.revision)
    }

    var description: String {
      "\(major).\(minor).\(revision)" + (build == 0 ? "" : ".\(build)")
    }
  }

  static let headerOctets = 32
  static let magic: UInt32 = 0x96F3_B83D
  private static let protectedMagic: UInt16 = 0x6908
  private static let plainMagic: UInt16 = 0x6907
  private static let infoOctets = 4
  private static let sha256Type: UInt16 = 0x10
  private static let nonBootable: UInt32 = 0x10
  private static let romFixed: UInt32 = 0x100

  let version: Version
  /// The address that the image was linked for, where it says so.
  let romAddress: Int?
  let isBootable: Bool
  /// The SHA-256 that it carries.
  let hash: [UInt8]
  /// The octets that the hash covers: header, body and the protected records.
  let hashedOctets: Int
  /// All of it, records included.
  let fileOctets: Int

  /// What a header says, before the rest has come.
  struct Header: Equatable, Sendable {
    let version: Version
    let romAddress: Int?
    let isBootable: Bool
    let headerSize: Int
    let bodySize: Int
    let protectedSize: Int

    /// `nil` for octets that are no header.
    init?(decoding bytes: some RandomAccessCollection<UInt8>) {
      let bytes = Array(bytes.prefix(headerOctets))
      guard bytes.count == headerOctets, bytes.littleEndianWord(at: 0) == magic else { return nil }
      let flags = bytes.littleEndianWord(at: 16)
      romAddress = flags & romFixed == 0 ? nil : Int(bytes.littleEndianWord(at: 4))
      isBootable = flags & nonBootable == 0
      headerSize = Int(bytes.littleEndianHalfword(at: 8))
      protectedSize = Int(bytes.littleEndianHalfword(at: 10))
      bodySize = Int(bytes.littleEndianWord(at: 12))
      version = Version(
        major: bytes[20], minor: bytes[21], revision: bytes.littleEndianHalfword(at: 22),
        build: bytes.littleEndianWord(at: 24))
    }
  }

  /// - Parameter bytes: a slot, or a file. `nil` unless the records are whole and hold one hash;
  ///   whether it is that of the image is not looked at.
  init?(decoding bytes: ArraySlice<UInt8>) {
    guard let header = Header(decoding: bytes) else { return nil }
    let start = header.headerSize + header.bodySize
    guard header.headerSize >= Self.headerOctets,
      start + header.protectedSize + Self.infoOctets <= bytes.count
    else { return nil }
    if header.protectedSize > 0 {
      guard bytes.littleEndianHalfword(at: start) == Self.protectedMagic,
        Int(bytes.littleEndianHalfword(at: start + 2)) == header.protectedSize
      else { return nil }
    }
    let records = start + header.protectedSize
    guard bytes.littleEndianHalfword(at: records) == Self.plainMagic else { return nil }
    let end = records + Int(bytes.littleEndianHalfword(at: records + 2))
    guard end <= bytes.count, let hash = Self.hash(in: bytes, records + Self.infoOctets, end)
    else { return nil }
    version = header.version
    romAddress = header.romAddress
    isBootable = header.isBootable
    self.hash = hash
    hashedOctets = records
    fileOctets = end
  }

  /// The one SHA-256 among the records from `start` to `end`.
  private static func hash(
    in bytes: ArraySlice<UInt8>, _ start: Int, _ end: Int
  ) -> [UInt8]? {
    var hash: [UInt8]?
    var position = start
    while position < end {
      guard position + infoOctets <= end else { return nil }
      let type = bytes.littleEndianHalfword(at: position)
      let size = Int(bytes.littleEndianHalfword(at: position + 2))
      position += infoOctets
      guard position + size <= end else { return nil }
      if type == sha256Type {
        guard hash == nil, size == 32 else { return nil }
        let first = bytes.startIndex + position
        hash = Array(bytes[first..<first + size])
      }
      position += size
    }
    return hash
  }

  /// Whether the octets have the hash that they carry.
  func isSound(in bytes: ArraySlice<UInt8>) -> Bool {
    Array(SHA256.hash(data: bytes.prefix(hashedOctets))) == hash
  }

  /// What MCUboot asks of an image before it starts it.
  static func isSound(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let image = BootableImage(decoding: bytes) else { return false }
    return image.isBootable && image.isSound(in: bytes)
  }
}

extension BootableImage {
  /// Puts an image together as the signing tool does, without a signature.
  static func assemble(
    version: Version, body: [UInt8], headerSize: Int = 512, flags: UInt32 = 0,
    loadAddress: UInt32 = 0
  ) -> [UInt8] {
    var header = magic.littleEndianOctets + loadAddress.littleEndianOctets
    header += UInt16(headerSize).littleEndianOctets + UInt16(0).littleEndianOctets
    header += UInt32(body.count).littleEndianOctets + flags.littleEndianOctets
    header += [version.major, version.minor] + version.revision.littleEndianOctets
    header += version.build.littleEndianOctets
    header += [UInt8](repeating: 0, count: headerSize - header.count)
    let hashed = header + body
    let records =
      sha256Type.littleEndianOctets + UInt16(32).littleEndianOctets + SHA256.hash(data: hashed)
    return hashed + plainMagic.littleEndianOctets
      + UInt16(records.count + infoOctets).littleEndianOctets + records
  }
}
