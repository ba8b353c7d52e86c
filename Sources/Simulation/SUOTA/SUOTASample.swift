import OtaflashFirmware

/// Assembles images for chips of Renesas.
enum SUOTASample {
  /// The offset of the code of a DA1469x.
  private static let codeOffset = 0x400

  /// - Parameters:
  ///   - version: at most 16 bytes.
  ///   - timestamp: the time of the build in seconds since 1970.
  static func image(
    _ code: [UInt8], for chip: SUOTASettings.Chip, version: String, timestamp: UInt32
  ) -> [UInt8] {
    let text = Array(version.utf8.prefix(16))
    let facts =
      UInt32(code.count).littleEndianBytes + CRC32.checksum(code).littleEndianBytes + text
      + [UInt8](repeating: 0, count: 16 - text.count) + timestamp.littleEndianBytes
    let signature = SUOTAHeader.signature(of: chip)
    switch chip {
    case .da1453x:
      // Not valid yet, image 0, not encrypted.
      return signature + [0xFF, 0] + facts + [UInt8](repeating: 0, count: 32) + code
    case .da1468x:
      return signature + [0xFF, 0xFF] + facts
        + UInt32(SUOTAHeader.size(of: chip)).littleEndianBytes + code
    case .da1469x:
      let header = signature + facts + UInt32(codeOffset).littleEndianBytes
      return header + [UInt8](repeating: 0xFF, count: codeOffset - header.count) + code
    }
  }
}

extension SlotImage {
  /// Describes a received image; an image without a descriptor has the version in its header.
  init(suota bytes: [UInt8], _ header: SUOTAHeader?) {
    self.init(describing: bytes)
    guard version == .unknown, let header else { return }
    let text = header.identity.prefix(16).prefix { $0 != 0 && $0 != 0xFF }
    version = FirmwareVersion(String(decoding: text, as: UTF8.self)) ?? .unknown
  }
}
