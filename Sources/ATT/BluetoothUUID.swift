/// A Bluetooth UUID (Core 5.4, Vol 3, Part B, 2.5.1). Equality compares all 128 bits, so `0x180D`
/// equals `0000180D-0000-1000-8000-00805F9B34FB`.
public struct BluetoothUUID: Hashable, Sendable {
  /// The more significant half of the 128 bits.
  public let high: UInt64
  /// The less significant half of the 128 bits.
  public let low: UInt64

  private static let baseHigh: UInt64 = 0x0000_0000_0000_1000
  private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Creates a UUID assigned by the Bluetooth SIG from its 16-bit short form.
  public init(_ short: UInt16) {
    high = UInt64(short) << 32 | Self.baseHigh
    low = Self.baseLow
  }

  /// Creates a UUID from its 32-bit form (Vol 3, Part B, 2.5.1), which is used only in
  /// advertisements.
  public init(bits32: UInt32) {
    high = UInt64(bits32) << 32 | Self.baseHigh
    low = Self.baseLow
  }

  /// The 16-bit short form; `nil` if this UUID is not a 16-bit UUID on the Bluetooth base UUID.
  public var short: UInt16? {
    guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh, high >> 48 == 0 else {
      return nil
    }
    return UInt16(truncatingIfNeeded: high >> 32)
  }

  /// Decodes a UUID from ATT bytes: 2 or 16 bytes, little-endian; returns `nil` for any other
  /// length.
  public init?(littleEndian bytes: some Collection<UInt8>) {
    switch bytes.count {
    case 2:
      let value = bytes.reversed().reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
      self.init(value)
    case 16:
      let all = Array(bytes)
      self.init(
        high: all[8..<16].reversed().reduce(0) { $0 << 8 | UInt64($1) },
        low: all[0..<8].reversed().reduce(0) { $0 << 8 | UInt64($1) })
    default:
      return nil
    }
  }

  /// The bytes in ATT PDUs, little-endian: 2 bytes if the UUID has a short form, otherwise 16
  /// bytes.
  public var littleEndian: [UInt8] {
    if let short { return [UInt8(truncatingIfNeeded: short), UInt8(short >> 8)] }
    return littleEndian128
  }

  /// The 16 bytes, little-endian, as the kernel's management interface requires.
  public var littleEndian128: [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: low >> (8 * $0)) }
      + (0..<8).map { UInt8(truncatingIfNeeded: high >> (8 * $0)) }
  }
}

extension BluetoothUUID: LosslessStringConvertible, ExpressibleByStringLiteral {
  /// Parses `180D`, `0x180D` or the 36-character form, in upper or lower case; returns `nil` for
  /// any other text.
  public init?(_ text: String) {
    var digits = text.lowercased()
    if digits.hasPrefix("0x") { digits.removeFirst(2) }
    if digits.count == 4, let short = UInt16(digits, radix: 16) {
      self.init(short)
      return
    }
    let groups = digits.split(separator: "-", omittingEmptySubsequences: false)
    guard groups.map(\.count) == [8, 4, 4, 4, 12], !digits.contains("+"),
      let high = UInt64(groups[0...2].joined(), radix: 16),
      let low = UInt64(groups[3...4].joined(), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }

  /// Creates a UUID from a literal in source code; a malformed literal is a programming error and
  /// traps.
  public init(stringLiteral text: String) {
    guard let uuid = BluetoothUUID(text) else { preconditionFailure("malformed UUID \(text)") }
    self = uuid
  }

  /// The short form, such as `180D`, if the UUID has one; otherwise the 36-character form in lower
  /// case.
  public var description: String {
    func hex(_ value: UInt64, _ count: Int) -> String {
      let digits = String(value, radix: 16)
      return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
    if let short { return hex(UInt64(short), 4).uppercased() }
    return [
      hex(high >> 32, 8), hex(high >> 16 & 0xFFFF, 4), hex(high & 0xFFFF, 4), hex(low >> 48, 4),
      hex(low & 0xFFFF_FFFF_FFFF, 12),
    ].joined(separator: "-")
  }
}
