/// ATT_MTU: the largest ATT PDU on a bearer, in octets (Core 5.4, Vol 3, Part F, 3.2.8).
///
/// 23 to begin with on LE. Nothing above 517 is of use: an attribute has at most 512 octets, and
/// Prepare Write adds five.
public struct ATTMTU: Hashable, Comparable, Sendable {
  public let octets: Int

  /// The MTU of every LE bearer until it is exchanged: 23 (Core 5.4, Vol 3, Part G, 5.2.1).
  public static let `default` = ATTMTU(clamping: 23)
  public static let maximum = ATTMTU(clamping: 517)

  /// `nil` outside 23…517.
  public init?(_ octets: Int) {
    guard (23...517).contains(octets) else { return nil }
    self.octets = octets
  }

  /// The nearest permitted MTU; a peer that announces less than 23 is held to 23 (3.4.2.2).
  public init(clamping octets: Int) { self.octets = min(max(octets, 23), 517) }

  /// What Exchange MTU agrees on: the smaller of both (3.4.2.2).
  public static func negotiated(_ ours: ATTMTU, _ theirs: ATTMTU) -> ATTMTU { min(ours, theirs) }

  public static func < (left: ATTMTU, right: ATTMTU) -> Bool { left.octets < right.octets }
}
