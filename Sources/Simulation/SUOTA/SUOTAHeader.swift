import OtaflashFirmware

/// The header of an image, as a device decodes it.
struct SUOTAHeader: Equatable, Sendable {
  let codeOffset: Int
  let codeSize: Int
  let checksum: UInt32
  /// The version and the time, by which a device recognizes the same image.
  let identity: [UInt8]

  static func size(of chip: SUOTASettings.Chip) -> Int {
    switch chip {
    case .da1453x: 64
    case .da1468x: 36
    case .da1469x: 34
    }
  }

  static func signature(of chip: SUOTASettings.Chip) -> [UInt8] {
    switch chip {
    case .da1453x: [0x70, 0x51]
    case .da1468x: [0x70, 0x61]
    case .da1469x: [0x51, 0x71]
    }
  }

  /// The number of bytes of the image.
  var imageSize: Int { codeOffset + codeSize }

  /// Returns `nil` if the bytes do not start with the header of an image for this chip.
  init?(_ bytes: [UInt8], of chip: SUOTASettings.Chip) {
    let size = Self.size(of: chip)
    guard bytes.count >= size, bytes.starts(with: Self.signature(of: chip)) else { return nil }
    let fields = chip == .da1469x ? 2 : 4
    codeSize = Int(bytes.littleEndianWord(at: fields))
    checksum = bytes.littleEndianWord(at: fields + 4)
    identity = Array(bytes[fields + 8..<fields + 28])
    codeOffset = chip == .da1453x ? size : Int(bytes.littleEndianWord(at: size - 4))
  }

  /// Whether the code in the image has the CRC32 of the header, as a bootloader checks it.
  func matches(_ image: some Collection<UInt8>) -> Bool {
    image.count >= imageSize
      && CRC32.checksum(image.dropFirst(codeOffset).prefix(codeSize)) == checksum
  }
}
