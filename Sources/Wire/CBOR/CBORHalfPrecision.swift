/// IEEE 754 binary16 in integer arithmetic: `Float16` is not available on every platform.
extension Double {
  /// The exponents of normal numbers in binary16.
  private static let halfExponents = -14...15
  /// The smallest positive number in binary16, and the distance between subnormal numbers.
  private static let halfStep = 0x1p-24
  /// The number of low bits of a binary64 significand that binary16 cannot store.
  private static let lostBits: UInt64 = 42

  /// Creates the number with these binary16 bits (RFC 8949, appendix D).
  init(halfPrecision bits: UInt16) {
    let significand = Double(bits & 0x3FF)
    let exponent = Int(bits >> 10 & 0x1F)
    let magnitude: Double =
      switch exponent {
      case 0: significand * Self.halfStep
      case 31: significand == 0 ? .infinity : .nan
      default: Double(sign: .plus, exponent: exponent - 25, significand: significand + 1024)
      }
    self = bits & 0x8000 == 0 ? magnitude : -magnitude
  }

  /// The number in binary16; `nil` if binary16 cannot represent it exactly. Only one NaN is used
  /// (RFC 8949, 4.2.2).
  var halfPrecision: UInt16? {
    if isNaN { return 0x7E00 }
    let sign: UInt16 = self.sign == .minus ? 0x8000 : 0
    if isInfinite { return sign | 0x7C00 }
    let steps = magnitude / Self.halfStep
    if steps < 1024 {
      return steps == steps.rounded(.towardZero) ? sign | UInt16(steps) : nil
    }
    guard Self.halfExponents.contains(Int(exponent)),
      significandBitPattern & (1 << Self.lostBits - 1) == 0
    else { return nil }
    let significand = UInt16(significandBitPattern >> Self.lostBits)
    return sign | UInt16(Int(exponent) + 15) << 10 | significand
  }
}
