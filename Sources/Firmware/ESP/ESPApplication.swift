/// The description of an application in its image (ESP-IDF, `esp_app_desc_t`), at the start of the
/// first segment.
public struct ESPApplication: Equatable, Sendable {
  static let magic: UInt32 = 0xABCD_5432
  /// The size of the description in bytes.
  static let size = 256

  /// The secure version: a chip with anti-rollback refuses an image whose value is lower than the
  /// value in the chip.
  public let secureVersion: UInt32
  /// The version as a text of at most 31 bytes, such as `1.2.0` or `v5.1-dirty`.
  public let versionText: String
  /// The name of the project, at most 31 bytes.
  public let project: String
  /// The version of ESP-IDF, at most 31 bytes.
  public let frameworkVersion: String

  /// The three numbers of `versionText`, with or without the prefix `v`; `nil` if the text does not
  /// consist of three numbers.
  public var version: FirmwareVersion? {
    FirmwareVersion(versionText.hasPrefix("v") ? String(versionText.dropFirst()) : versionText)
  }

  /// Decodes the description; returns `nil` if the bytes do not start with its magic or are too
  /// short.
  init?(decoding bytes: ArraySlice<UInt8>) {
    let start = bytes.startIndex
    guard bytes.count >= Self.size, bytes.littleEndian(UInt32.self, at: start) == Self.magic,
      let secureVersion: UInt32 = bytes.littleEndian(at: start + 4)
    else { return nil }
    func text(_ offset: Int) -> String {
      let field = bytes[start + offset..<start + offset + 32].prefix { $0 != 0 }
      return String(decoding: field.filter { (0x20...0x7E).contains($0) }, as: UTF8.self)
    }
    self.secureVersion = secureVersion
    versionText = text(16)
    project = text(48)
    frameworkVersion = text(112)
  }
}
