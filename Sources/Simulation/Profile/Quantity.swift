/// Parsers for the numbers of a profile with their units; they return `nil` for any other string.
enum Quantity {
  /// Parses a decimal number, 1 or more.
  static func count(_ text: String) -> Int? {
    guard let value = natural(text), value > 0 else { return nil }
    return value
  }

  /// Parses `7.5ms`, `20s`, `300us` or `0`.
  static func duration(_ text: String) -> Duration? {
    if text == "0" { return .zero }
    for (unit, microseconds) in [("us", 1.0), ("ms", 1e3), ("s", 1e6)] where text.hasSuffix(unit) {
      guard let value = decimal(text.dropLast(unit.count)), value * microseconds <= 1e12 else {
        return nil
      }
      return .microseconds(Int((value * microseconds).rounded()))
    }
    return nil
  }

  /// Parses `10%` as 0.1.
  static func share(_ text: String) -> Double? {
    guard text.hasSuffix("%"), let value = decimal(text.dropLast()), value <= 100 else {
      return nil
    }
    return value / 100
  }

  /// Parses `512K`, `1M`, or a number of bytes; the number before `K` or `M` is at most 4096.
  static func size(_ text: String) -> Int? {
    for (unit, bytes) in [("K", 1 << 10), ("M", 1 << 20)] where text.hasSuffix(unit) {
      return natural(text.dropLast()).flatMap { $0 <= 4096 ? $0 * bytes : nil }
    }
    return natural(text)
  }

  /// Parses a 32-bit number, decimal or with the prefix `0x`.
  static func word(_ text: String) -> UInt32? {
    guard text.hasPrefix("0x") else { return natural(text).flatMap { UInt32(exactly: $0) } }
    let digits = text.dropFirst(2)
    guard digits.utf8.allSatisfy({ nibble($0) != nil }) else { return nil }
    return UInt32(digits, radix: 16)
  }

  /// Parses pairs of hexadecimal digits, at least one pair.
  static func hex(_ text: String) -> [UInt8]? {
    guard !text.isEmpty, text.utf8.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    var nibbles = text.utf8.makeIterator()
    while let high = nibbles.next(), let low = nibbles.next() {
      guard let high = nibble(high), let low = nibble(low) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func nibble(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: return digit - 0x30
    case 0x41...0x46: return digit - 0x41 + 10
    case 0x61...0x66: return digit - 0x61 + 10
    default: return nil
    }
  }

  private static func natural(_ text: some StringProtocol) -> Int? {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }

  private static func decimal(_ text: some StringProtocol) -> Double? {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) else { return nil }
    return Double(text)
  }
}
