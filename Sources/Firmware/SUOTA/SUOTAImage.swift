/// The header of an image for Bluetooth chips of Renesas (formerly Dialog), as a device with SUOTA
/// (software update over the air) receives it.
///
/// The file starts with the header of one chip family, and contains the code at `codeOffset`. The
/// CRC32 in the header covers only the code. The file ends with the code.
public struct SUOTAImage: Equatable, Sendable {
  /// The family of chips, which the first two bytes identify.
  public enum Chip: String, Sendable, CaseIterable {
    /// `70 51`: DA14530, DA14531, DA14535 and DA1458x, with a header of 64 bytes.
    case da1453x = "DA1453x/DA1458x"
    /// `70 61`: DA1468x, with a header of 36 bytes.
    case da1468x = "DA1468x"
    /// `51 71`: DA1469x, with a header of 34 bytes.
    case da1469x = "DA1469x"

    /// The first two bytes of the file.
    package var signature: [UInt8] {
      switch self {
      case .da1453x: [0x70, 0x51]
      case .da1468x: [0x70, 0x61]
      case .da1469x: [0x51, 0x71]
      }
    }

    /// The number of bytes of the header.
    package var headerSize: Int {
      switch self {
      case .da1453x: 64
      case .da1468x: 36
      case .da1469x: 34
      }
    }

    /// The offset of the size, which the CRC32, the version and the time follow.
    fileprivate var sizeOffset: Int { self == .da1469x ? 2 : 4 }
  }

  /// The size of the version field in bytes, including its padding.
  package static let versionSize = 16

  /// The family of chips.
  public let chip: Chip
  /// The offset of the code.
  public let codeOffset: Int
  /// The number of bytes of the code.
  public let codeSize: Int
  /// The CRC32 of the code. If the image is encrypted, the CRC32 covers the decrypted code.
  public let checksum: UInt32
  /// The version, as the build of the application wrote it.
  public let versionText: String
  /// The time of the build in seconds since 1970; 0xFFFFFFFF if the build did not set it.
  public let timestamp: UInt32
  /// Whether the header states that the code is encrypted. Only the DA1453x and DA1458x state this.
  public let isEncrypted: Bool

  /// The three numbers of `versionText`, without a prefix `v` or `v_`; `nil` if the text does not
  /// consist of three numbers.
  public var version: FirmwareVersion? { FirmwareVersion(Self.plain(versionText)) }

  /// Returns a version text without `v` or `v_` before it.
  package static func plain(_ text: String) -> String {
    guard let first = text.first, first == "v" || first == "V" else { return text }
    let rest = text.dropFirst()
    return String(rest.first == "_" ? rest.dropFirst() : rest)
  }

  // MARK: Recognition

  /// Returns whether the bytes start with a header: two bytes that identify it, and a printable
  /// version. The first two bytes alone also occur in other binaries.
  package static func begins(_ bytes: ArraySlice<UInt8>) -> Bool { chip(of: bytes) != nil }

  private static func chip(of bytes: ArraySlice<UInt8>) -> Chip? {
    Chip.allCases.first { chip in
      bytes.starts(with: chip.signature)
        && text(of: bytes.dropFirst(chip.sizeOffset + 8).prefix(versionSize)) != nil
    }
  }

  /// Returns the text of a version field; `nil` if it is not printable text with padding.
  private static func text(of field: ArraySlice<UInt8>) -> String? {
    let text = field.prefix { (0x20..<0x7F).contains($0) }
    let padding = field.dropFirst(text.count)
    // Not every build clears the bytes after the terminator of the version.
    guard field.count == versionSize, !text.isEmpty,
      padding.first ?? 0 == 0 || padding.allSatisfy({ $0 == 0xFF })
    else { return nil }
    return String(decoding: text, as: UTF8.self)
  }

  // MARK: Decoding

  /// Checks the sizes and, unless the image is encrypted, the CRC32.
  ///
  /// - Parameter bytes: the complete file, which starts with a header.
  public init(decoding bytes: [UInt8]) throws(SUOTAImageFault) {
    guard let chip = Self.chip(of: bytes[...]) else { throw .notAnImage }
    guard bytes.count >= chip.headerSize,
      let size: UInt32 = bytes.littleEndian(at: chip.sizeOffset),
      let checksum: UInt32 = bytes.littleEndian(at: chip.sizeOffset + 4),
      let timestamp: UInt32 = bytes.littleEndian(at: chip.sizeOffset + 24),
      let text = Self.text(of: bytes[(chip.sizeOffset + 8)...].prefix(Self.versionSize))
    else { throw .cutOff(found: bytes.count) }
    self.chip = chip
    self.checksum = checksum
    self.timestamp = timestamp
    versionText = text
    codeSize = Int(size)
    codeOffset = try Self.codeOffset(chip, bytes)
    isEncrypted = chip == .da1453x && bytes[Self.encryptionOffset] & 1 == 1
    guard size > 0, codeOffset + codeSize == bytes.count else {
      throw .sizeDiffers(stated: codeOffset + codeSize, found: bytes.count)
    }
    guard !isEncrypted else { return }
    let computed = CRC32.checksum(bytes[codeOffset...])
    guard computed == checksum else {
      throw .checksumDiffers(
        stated: checksum, computed: computed, offset: chip.sizeOffset + 4)
    }
  }

  /// The offset of the flag in the header of a DA1453x.
  private static let encryptionOffset = 32

  private static func codeOffset(_ chip: Chip, _ bytes: [UInt8]) throws(SUOTAImageFault) -> Int {
    guard chip != .da1453x else { return chip.headerSize }
    let field = chip.headerSize - 4
    guard let offset: UInt32 = bytes.littleEndian(at: field), offset >= chip.headerSize,
      offset < bytes.count
    else { throw .codeOutside(found: bytes.count, offset: field) }
    return Int(offset)
  }
}
