/// ATT_MTU of a Bluetooth LE link: the largest PDU either side may send, 23…517 bytes (Core 5.4,
/// Vol 3, Part F, 3.2.8; 517 carries the longest attribute value in one Prepare Write).
public struct ATTMTU: Hashable, Comparable, Sendable {
  /// The size in bytes, 23…517.
  public let bytes: Int

  /// In force until an exchange has ended (Vol 3, Part G, 5.2.1).
  public static let `default` = ATTMTU(unchecked: 23)
  /// 517 bytes: a value of 512, its opcode, handle and offset.
  public static let maximum = ATTMTU(unchecked: 517)

  /// `nil` outside 23…517.
  public init?(bytes: Int) {
    guard (Self.default.bytes...Self.maximum.bytes).contains(bytes) else { return nil }
    self.bytes = bytes
  }

  /// The nearest MTU within 23…517: what a peer offers may lie outside.
  public init(clamping bytes: Int) {
    self.bytes = min(max(bytes, Self.default.bytes), Self.maximum.bytes)
  }

  private init(unchecked bytes: Int) { self.bytes = bytes }

  /// The smaller of what both sides take, valid in both directions (Part F, 3.4.2.2).
  public static func negotiated(_ one: ATTMTU, _ other: ATTMTU) -> ATTMTU { min(one, other) }

  /// Most bytes in the value of a write, a notification or an indication: MTU - 3.
  public var valueSizeMaximum: Int { bytes - 3 }

  public static func < (left: ATTMTU, right: ATTMTU) -> Bool { left.bytes < right.bytes }
}
