import Crypto
import OtaflashFirmware

/// An application image, as the bootloader of ESP-IDF checks it before it starts the image
/// (`esp_image_verify`).
struct EspressifImage {
  private static let headerSize = 24
  private static let segmentHeaderSize = 8
  private static let hashSize = 32
  private static let descriptionMagic: UInt32 = 0xABCD_5432
  private static let versionOffset = 48
  private static let textSize = 32

  /// The version text of the application.
  let version: String

  /// Checks an image; returns `nil` if the bootloader would not start it on this chip.
  init?(_ bytes: ArraySlice<UInt8>, chip: UInt16) {
    let start = bytes.startIndex
    guard bytes.count > Self.headerSize + Self.segmentHeaderSize, bytes[start] == 0xE9,
      (1...16).contains(bytes[start + 1]), bytes.littleEndianHalfword(at: 12) == chip
    else { return nil }
    var offset = Self.headerSize
    var checksum: UInt8 = 0xEF
    for _ in 0..<bytes[start + 1] {
      guard offset + Self.segmentHeaderSize <= bytes.count else { return nil }
      let size = Int(bytes.littleEndianWord(at: offset + 4))
      offset += Self.segmentHeaderSize
      guard size <= bytes.count - offset else { return nil }
      for byte in bytes[start + offset..<start + offset + size] { checksum ^= byte }
      offset += size
    }
    let last = offset / 16 * 16 + 15
    guard last < bytes.count, bytes[start + last] == checksum else { return nil }
    if bytes[start + 23] == 1 {
      let end = last + 1 + Self.hashSize
      guard end <= bytes.count,
        SHA256.hash(data: bytes[start...start + last])
          .elementsEqual(bytes[start + last + 1..<start + end])
      else { return nil }
    }
    guard bytes.count >= Self.versionOffset + Self.textSize,
      bytes.littleEndianWord(at: Self.headerSize + Self.segmentHeaderSize)
        == Self.descriptionMagic
    else { return nil }
    let text = bytes[start + Self.versionOffset..<start + Self.versionOffset + Self.textSize]
    version = String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Creates an image of two segments with checksum and hash.
  static func make(
    _ body: [UInt8], version: String, project: String, chip: UInt16, secureVersion: UInt32 = 0
  ) -> [UInt8] {
    func text(_ value: String) -> [UInt8] {
      let bytes = Array(value.utf8.prefix(textSize - 1))
      return bytes + [UInt8](repeating: 0, count: textSize - bytes.count)
    }
    var description = descriptionMagic.littleEndianBytes + secureVersion.littleEndianBytes
    description += [UInt8](repeating: 0, count: 8) + text(version) + text(project)
    description += [UInt8](repeating: 0, count: 32) + text("v5.5")
    description += [UInt8](repeating: 0, count: 112)
    let code = body + [UInt8](repeating: 0, count: (4 - body.count % 4) % 4)
    let segments: [(address: UInt32, bytes: [UInt8])] = [
      (0x3C00_0020, description), (0x4200_0020, code),
    ]
    var image: [UInt8] = [0xE9, UInt8(segments.count), 0x02, 0x2F]
    image += UInt32(0x4200_0020).littleEndianBytes + [0xEE, 0, 0, 0] + chip.littleEndianBytes
    image += [0, 0, 0, 99, 0, 0, 0, 0, 0, 1]
    var checksum: UInt8 = 0xEF
    for segment in segments {
      image += segment.address.littleEndianBytes + UInt32(segment.bytes.count).littleEndianBytes
      image += segment.bytes
      for byte in segment.bytes { checksum ^= byte }
    }
    image += [UInt8](repeating: 0, count: 15 - image.count % 16) + [checksum]
    return image + SHA256.hash(data: image)
  }
}
