/// Names a kind of board, so that an image for another one can be refused. The value is chosen by
/// the maker of the board; 0 is not used.
public struct HardwareID: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
}

extension HardwareID: LosslessStringConvertible {
  /// Reads `0x0000A001` or a decimal number.
  public init?(_ text: String) {
    let digits = text.lowercased()
    let value =
      digits.hasPrefix("0x") ? UInt32(digits.dropFirst(2), radix: 16) : UInt32(digits, radix: 10)
    guard let value, !digits.contains("+") else { return nil }
    self.init(value)
  }

  public var description: String {
    let digits = String(rawValue, radix: 16, uppercase: true)
    return "0x" + String(repeating: "0", count: 8 - digits.count) + digits
  }
}
