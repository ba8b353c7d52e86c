/// ATT_MTU of a Bluetooth LE link: the largest PDU either side may send, 23…517 octets (Core 5.4,
/// Vol 3, Part F, 3.2.8; 517 carries the longest attribute value in one Prepare Write).
public struct ATTMTU: Hashable, Comparable, Sendable {
  /// The size in octets, 23…517.
  public let octets: Int

  /// In force until an exchange has ended (Vol 3, Part G, 5.2.1).
  public static let `default` = ATTMTU(unchecked: 23)
  /// 517 octets: a value of 512, its opcode, handle and offset.
  public static let maximum = ATTMTU(unchecked: 517)

  /// `nil` outside 23…517.
  public init?(octets: Int) {
    guard (Self.default.octets...Self.maximum.octets).contains(octets) else { return nil }
    self.octets = octets
  }

  /// The nearest MTU within 23…517: what a peer offers may lie outside.
  public init(clamping octets: Int) {
    self.octets = min(max(octets, Self.default.octets), Self.maximum.octets)
  }

  private init(unchecked octets: Int) { self.octets = octets }

  /// The smaller of what both sides take, valid in both directions (Part F, 3.4.2.2).
  public static func negotiated(_ one: ATTMTU, _ other: ATTMTU) -> ATTMTU { min(one, other) }

  /// Most octets in the value of a write, a notification or an indication: MTU - 3.
  public var valueSizeMaximum: Int { octets - 3 }

  public static func < (left: ATTMTU, right: ATTMTU) -> Bool { left.octets < right.octets }
}
