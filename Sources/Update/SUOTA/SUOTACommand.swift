import OtaflashWire

/// A value of MEM_DEV: a 32-bit number whose high byte is the command.
enum SUOTACommand: Equatable, Sendable {
  /// The transfer of an image to a bank starts.
  case start(SUOTAOptions.Memory, bank: Int)
  /// The image is complete: the device checks the image, and marks it as valid.
  case end
  /// The device restarts.
  case reboot
  /// The device discards the transfer.
  case exit

  var encoded: [UInt8] {
    let word: UInt32 =
      switch self {
      case .start(.i2c, let bank): 0x1200_0000 | UInt32(clamping: bank) & 0xFF_FFFF
      case .start(.spi, let bank): 0x1300_0000 | UInt32(clamping: bank) & 0xFF_FFFF
      case .end: 0xFE00_0000
      case .reboot: 0xFD00_0000
      case .exit: 0xFF00_0000
      }
    return SUOTACommand.bytes(word)
  }

  /// Returns the four bytes of a number, least significant byte first.
  static func bytes(_ word: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) }
  }
}
