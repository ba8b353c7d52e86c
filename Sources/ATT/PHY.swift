/// A physical layer of Bluetooth LE and the cost of its packets (Core 5.4, Vol 6, Part B, 2.1,
/// 2.2). All times are in microseconds, rounded to integers.
public enum PHY: String, CaseIterable, Sendable {
  /// One megabit per second; every device supports it.
  case le1M = "1M"
  /// Two megabits per second.
  case le2M = "2M"
  /// LE Coded, as controllers and kernels report it: the sender chooses two or eight symbols per
  /// bit for each packet, and does not report the choice to the host. The times apply to two
  /// symbols per bit, the faster coding.
  case coded
  /// LE Coded with two symbols per bit.
  case codedS2 = "S2"
  /// LE Coded with eight symbols per bit.
  case codedS8 = "S8"

  /// Parses a name such as `1M`, `2m` or `Coded`, in upper or lower case; returns `nil` for an
  /// unknown name.
  package init?(caseInsensitive text: String) {
    let text = text.lowercased()
    guard let phy = Self.allCases.first(where: { $0.rawValue.lowercased() == text }) else {
      return nil
    }
    self = phy
  }

  /// T_IFS, the gap between two packets of a connection event (Vol 6, Part B, 4.1.1).
  public static let interframeSpaceMicroseconds = 150

  /// The size in bytes of the message integrity code, which encryption adds to each packet with a
  /// payload (Vol 6, Part B, 2.4).
  private static let integrityCodeBytes = 4

  /// The PHY as a controller reports it: `coded` for both codings, S2 and S8.
  public var withoutCoding: PHY {
    switch self {
    case .le1M, .le2M, .coded: self
    case .codedS2, .codedS8: .coded
    }
  }

  /// Returns the time on air of one data packet in microseconds.
  ///
  /// - Parameters:
  ///   - payload: the link-layer payload in bytes, 0…251; 0 for the empty packet.
  ///   - encrypted: whether the packet has the four bytes of the integrity check.
  package func airTimeMicroseconds(payload: Int, encrypted: Bool) -> Int {
    let bytes = payload + (encrypted && payload > 0 ? Self.integrityCodeBytes : 0)
    // Preamble, access address (4 bytes), header (2 bytes), payload, CRC (3 bytes). The coded PHY
    // encodes its parts as in figure 2.7: preamble 80 µs, access address 256 µs, CI 16 µs and TERM1
    // 24 µs at S=8, the rest at S.
    switch self {
    case .le1M: return (1 + 4 + 2 + bytes + 3) * 8
    case .le2M: return (2 + 4 + 2 + bytes + 3) * 4
    case .coded, .codedS2: return 80 + 256 + 16 + 24 + (16 + bytes * 8 + 24 + 3) * 2
    case .codedS8: return 80 + 256 + 16 + 24 + (16 + bytes * 8 + 24 + 3) * 8
    }
  }
}
