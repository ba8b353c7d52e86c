/// The id of a kind of board. Images for boards with another id are rejected. The manufacturer of
/// the board chooses the value; 0 is `any`.
public struct HardwareID: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// Creates the id from its number.
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }

  /// The id of images that run on all boards (docs/image-descriptor.md).
  public static let any = HardwareID(0)
}

extension HardwareID: LosslessStringConvertible {
  /// Parses `0x0000A001` or a decimal number of at most 32 bits. Returns `nil` for other text.
  public init?(_ text: String) {
    let digits = text.lowercased()
    let value =
      digits.hasPrefix("0x") ? UInt32(digits.dropFirst(2), radix: 16) : UInt32(digits, radix: 10)
    guard let value, !digits.contains(where: { $0 == "+" || $0 == "-" }) else { return nil }
    self.init(value)
  }

  public var description: String {
    "0x" + rawValue.hexadecimal
  }
}

/// The id as a string, `"0x0000A001"`.
extension HardwareID: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let hardware = HardwareID(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "a hardware id is a 32-bit number: 0x0000A001")
    }
    self = hardware
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
