/// Bytes as pairs of hexadecimal digits, as in the records of text formats.
enum HexadecimalText {
  /// Decodes all of `digits`, in upper or lower case.
  /// - Parameter column: the column of the first digit in its line, from 1, for faults.
  static func bytes(
    of digits: some Collection<UInt8>, fromColumn column: Int
  ) throws(HexadecimalFault) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    var high: UInt8?
    for (index, character) in digits.enumerated() {
      guard let digit = character.hexadecimalDigit else {
        throw .notHexadecimal(character, column: column + index)
      }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    guard high == nil else { throw .halfByte(digits: bytes.count * 2 + 1) }
    return bytes
  }
}

/// The reason why a string of digits was rejected.
enum HexadecimalFault: Error, Equatable {
  /// A character that is not a hexadecimal digit; columns count from 1.
  case notHexadecimal(UInt8, column: Int)
  case halfByte(digits: Int)
}

extension UInt8 {
  /// The value of an ASCII character that is a hexadecimal digit; `nil` for other characters.
  var hexadecimalDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  /// The text of a character in a message: `'G'`, or `byte 0x0D`.
  var shownCharacter: String {
    (0x20...0x7E).contains(self)
      ? "'\(Character(Unicode.Scalar(self)))'" : "byte 0x\(hexadecimal)"
  }
}

extension FixedWidthInteger where Self: UnsignedInteger {
  /// All digits of a number in upper case, without a prefix: `0A`, `0000A001`.
  var hexadecimal: String {
    let digits = String(self, radix: 16, uppercase: true)
    return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
  }
}
