/// A half-open range of addresses: `0x00001000..0x00012ECC`.
public struct AddressRegion: Hashable, Sendable {
  /// The end of the 32-bit address space.
  static let end: UInt64 = 1 << 32

  /// The addresses of the region. The range is not empty, and ends at or before 2^32.
  public let range: Range<UInt64>

  /// Returns `nil` if the region is empty or outside of the 32-bit address space.
  public init?(_ range: Range<UInt64>) {
    guard !range.isEmpty, range.upperBound <= Self.end else { return nil }
    self.range = range
  }

  /// - Precondition: the range is not empty, and ends at or before 2^32.
  init(of range: Range<UInt64>) {
    precondition(!range.isEmpty && range.upperBound <= Self.end, "not a region of 32-bit addresses")
    self.range = range
  }

  var count: Int { range.count }
}

extension AddressRegion: LosslessStringConvertible {
  /// Parses `0x1000..0x12ECC` or decimal numbers; the second number is the first address after the
  /// region. Returns `nil` for other text, and for an empty region.
  public init?(_ text: String) {
    guard let dots = text.firstRange(of: ".."),
      let lower = Self.address(text[..<dots.lowerBound]),
      let upper = Self.address(text[dots.upperBound...]), lower < upper
    else { return nil }
    self.init(lower..<upper)
  }

  private static func address(_ text: Substring) -> UInt64? {
    let digits = text.lowercased()
    // The integers' own initializers would also accept signs.
    guard !digits.contains(where: { $0 == "+" || $0 == "-" }) else { return nil }
    return digits.hasPrefix("0x")
      ? UInt64(digits.dropFirst(2), radix: 16) : UInt64(digits, radix: 10)
  }

  public var description: String {
    "0x\(Self.text(range.lowerBound))..0x\(Self.text(range.upperBound))"
  }

  private static func text(_ address: UInt64) -> String {
    UInt32(exactly: address)?.hexadecimal ?? "1" + UInt32(0).hexadecimal
  }
}
