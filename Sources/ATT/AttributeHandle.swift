/// The handle of an attribute, 0x0001…0xFFFF (Core 5.4, Vol 3, Part F, 3.2.2). 0x0000 is reserved;
/// it is used only in error responses that concern no attribute.
public struct AttributeHandle: RawRepresentable, Hashable, Comparable, Sendable {
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }
  /// Creates the handle with this number; 0 is reserved.
  public init(_ rawValue: UInt16) { self.rawValue = rawValue }

  /// The handle in error responses that concern no attribute.
  public static let none = AttributeHandle(0)
  /// The lowest handle, 0x0001.
  public static let first = AttributeHandle(0x0001)
  /// The highest handle, 0xFFFF.
  public static let last = AttributeHandle(0xFFFF)

  /// The next handle, or `nil` after 0xFFFF.
  public var next: AttributeHandle? {
    rawValue == .max ? nil : AttributeHandle(rawValue + 1)
  }

  public static func < (left: AttributeHandle, right: AttributeHandle) -> Bool {
    left.rawValue < right.rawValue
  }
}

extension AttributeHandle: CustomStringConvertible {
  public var description: String {
    let digits = String(rawValue, radix: 16, uppercase: true)
    return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}
