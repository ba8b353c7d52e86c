/// The ATT_MTU of a Bluetooth LE link: the maximum size of a PDU that both devices accept, 23…517
/// bytes (Core 5.4, Vol 3, Part F, 3.2.8). 517 bytes carry the longest attribute value in one
/// Prepare Write.
public struct ATTMTU: Hashable, Comparable, Sendable {
  /// The size in bytes, 23…517.
  public let bytes: Int

  /// The value before any exchange (Vol 3, Part G, 5.2.1).
  public static let `default` = ATTMTU(unchecked: 23)
  /// 517 bytes: a value of 512 bytes with opcode, handle and offset.
  public static let maximum = ATTMTU(unchecked: 517)

  /// Creates an ATT_MTU; returns `nil` if `bytes` is outside 23…517.
  public init?(bytes: Int) {
    guard (Self.default.bytes...Self.maximum.bytes).contains(bytes) else { return nil }
    self.bytes = bytes
  }

  /// Creates the nearest ATT_MTU within 23…517, because a peer may send a value outside this range.
  public init(clamping bytes: Int) {
    self.bytes = min(max(bytes, Self.default.bytes), Self.maximum.bytes)
  }

  private init(unchecked bytes: Int) { self.bytes = bytes }

  /// Returns the smaller of the client's and the server's receive MTU, which is valid in both
  /// directions (Part F, 3.4.2.2).
  public static func negotiated(_ one: ATTMTU, _ other: ATTMTU) -> ATTMTU { min(one, other) }

  /// The maximum length of a value in a write, a notification or an indication: MTU - 3.
  public var valueSizeMaximum: Int { bytes - 3 }

  public static func < (left: ATTMTU, right: ATTMTU) -> Bool { left.bytes < right.bytes }
}
