/// A GBL file, version 3, whose structure and CRC32 are correct. Devices receive the file as it is,
/// and their bootloader interprets it.
public struct GBLFile: Equatable, Sendable {
  /// The properties of the application in the file.
  public struct Application: Equatable, Sendable {
    /// The flags of the type; 0x20 = a Bluetooth application.
    public let type: UInt32
    /// The version, as a number of the vendor.
    public let version: UInt32
    /// The capabilities, as a number of the vendor.
    public let capabilities: UInt32
    /// The product: 16 bytes of the vendor; all 0 if the vendor sets none.
    public let product: [UInt8]
  }

  /// The maximum number of tags; no image needs more.
  static let tagMaximum = 4096
  private static let versionThree: UInt32 = 0x0300_0000
  private static let versionFour: UInt32 = 0x84A6_17EB
  private static let encryptedFlag: UInt32 = 0x001
  private static let signedFlag: UInt32 = 0x100

  /// The tags in the order of the file.
  public let tags: [GBLTag]
  /// Whether the tags of the image are encrypted.
  public let isEncrypted: Bool
  /// Whether the file is signed.
  public let isSigned: Bool
  /// The application's properties; `nil` if they are encrypted or missing.
  public let application: Application?
  /// The version of the bootloader in the file, as a number of the vendor; `nil` if the bootloader
  /// is encrypted or missing.
  public let bootloaderVersion: UInt32?

  /// Returns whether the bytes start with the header of a GBL file.
  static func begins(_ bytes: [UInt8]) -> Bool {
    let first: UInt32? = bytes.littleEndian(at: 0)
    return first == GBLTag.Kind.header.rawValue || first == versionFour
  }

  /// Decodes a complete file.
  public init(decoding bytes: [UInt8]) throws(GBLFault) {
    guard bytes.littleEndian(UInt32.self, at: 0) != Self.versionFour else { throw .versionFour }
    let tags = try Self.tags(of: bytes)
    guard let header = tags.first, header.kind == .header,
      let version = bytes.littleEndian(UInt32.self, at: header.payload.lowerBound),
      let type = bytes.littleEndian(UInt32.self, at: header.payload.lowerBound + 4)
    else { throw .noHeader }
    guard version == Self.versionThree else { throw .versionNotSupported(version) }
    guard type & ~(Self.encryptedFlag | Self.signedFlag) == 0 else {
      throw .typeNotSupported(type)
    }
    self.tags = tags
    isEncrypted = type & Self.encryptedFlag != 0
    isSigned = type & Self.signedFlag != 0
    application = Self.application(in: tags, of: bytes)
    bootloaderVersion = tags.first { $0.kind == .bootloader }.flatMap {
      bytes.littleEndian(at: $0.payload.lowerBound)
    }
    try checkContents()
    try checkChecksum(of: bytes)
  }

  /// Returns the first tag of this type, if any.
  public func tag(_ kind: GBLTag.Kind) -> GBLTag? { tags.first { $0.kind == kind } }
}

extension GBLFile {
  private static func tags(of bytes: [UInt8]) throws(GBLFault) -> [GBLTag] {
    var tags: [GBLTag] = []
    var offset = 0
    while tags.last?.kind != .end {
      guard tags.count < tagMaximum else { throw .tooManyTags(limit: tagMaximum, offset: offset) }
      let tag = try tag(at: offset, of: bytes)
      if tags.isEmpty, tag.kind != .header { throw .noHeader }
      if let last = tags.last {
        guard tag.kind.order >= last.kind.order else {
          throw .wrongOrder(tag.kind, after: last.kind, offset: offset)
        }
        guard tag.kind != last.kind || tag.kind.isRepeatable else {
          throw .repeated(tag.kind, offset: offset)
        }
      }
      tags.append(tag)
      offset = tag.payload.upperBound
    }
    guard offset == bytes.count else {
      throw .bytesAfterEnd(count: bytes.count - offset, offset: offset)
    }
    return tags
  }

  private static func tag(at offset: Int, of bytes: [UInt8]) throws(GBLFault) -> GBLTag {
    guard let id = bytes.littleEndian(UInt32.self, at: offset),
      let stated = bytes.littleEndian(UInt32.self, at: offset + 4)
    else { throw offset == 0 ? .noHeader : .endMissing(offset: bytes.count) }
    guard let kind = GBLTag.Kind(rawValue: id) else {
      throw offset == 0 ? .noHeader : .unknownTag(id, offset: offset)
    }
    let length = Int(stated)
    let start = offset + GBLTag.headerSize
    guard length <= bytes.count - start else {
      throw .tagBeyondEnd(kind, length: length, left: bytes.count - start, offset: offset)
    }
    let isList = kind == .versionDependency && !length.isMultiple(of: 8)
    guard kind.lengths.contains(length), !isList else {
      throw .wrongLength(kind, found: length, offset: offset)
    }
    return GBLTag(kind: kind, offset: offset, payload: start..<start + length)
  }

  private static func application(in tags: [GBLTag], of bytes: [UInt8]) -> Application? {
    guard let tag = tags.first(where: { $0.kind == .application }) else { return nil }
    let start = tag.payload.lowerBound
    let words = (0..<3).compactMap { bytes.littleEndian(UInt32.self, at: start + 4 * $0) }
    return Application(
      type: words[0], version: words[1], capabilities: words[2],
      product: Array(bytes[(start + 12)..<tag.payload.upperBound]))
  }

  /// Checks that the tags match the type in the header, and that a device can install at least one
  /// tag.
  private func checkContents() throws(GBLFault) {
    try check(.signature, isRequired: isSigned)
    try check(.encryptionStart, isRequired: isEncrypted)
    if let tag = tag(.encrypted), !isEncrypted {
      throw .notDeclared(.encrypted, offset: tag.offset)
    }
    guard tags.contains(where: { $0.kind.isInstalled }) else { throw .nothingToInstall }
  }

  private func check(_ kind: GBLTag.Kind, isRequired: Bool) throws(GBLFault) {
    let tag = tag(kind)
    if isRequired, tag == nil { throw .missing(kind) }
    if !isRequired, let tag { throw .notDeclared(kind, offset: tag.offset) }
  }

  private func checkChecksum(of bytes: [UInt8]) throws(GBLFault) {
    guard let end = tag(.end),
      let stated = bytes.littleEndian(UInt32.self, at: end.payload.lowerBound)
    else { throw .endMissing(offset: bytes.count) }
    let computed = CRC32.checksum(bytes[..<end.payload.lowerBound])
    guard stated == computed else {
      throw .crcDiffers(stated: stated, computed: computed, offset: end.payload.lowerBound)
    }
  }
}
