/// The branches BL and B.W of Thumb-2 (Arm Architecture Reference Manual for Armv7-M, A7.7.12,
/// encoding T4, and A7.7.18, encoding T1), as a word of four bytes in memory order.
enum ThumbBranch {
  /// The distance of the target from the address of the branch plus 4, modulo 2^32; `nil` if the
  /// word is no such branch.
  static func distance(_ word: UInt32) -> UInt32? {
    guard word & 0x9000_F800 == 0x9000_F000 else { return nil }
    let (high, low) = (word & 0xFFFF, word >> 16)
    let sign = high >> 10 & 1
    return (0 &- sign) << 24 | (low >> 13 & 1 ^ sign ^ 1) << 23 | (low >> 11 & 1 ^ sign ^ 1) << 22
      | (high & 0x3FF) << 12 | (low & 0x7FF) << 1
  }

  /// The branch with another distance, of which the bits 24 to 1 are used.
  static func word(_ word: UInt32, distance: UInt32) -> UInt32 {
    let sign = distance >> 24 & 1
    let high = 0xF000 | sign << 10 | distance >> 12 & 0x3FF
    let low =
      word >> 16 & 0xD000 | (distance >> 23 & 1 ^ sign ^ 1) << 13
      | (distance >> 22 & 1 ^ sign ^ 1) << 11 | distance >> 1 & 0x7FF
    return high | low << 16
  }
}
