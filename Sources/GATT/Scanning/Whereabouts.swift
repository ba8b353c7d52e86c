/// Where a device is to be found, seen from the address that it was first given by. A boot loader
/// may have an address of its own beside the application's, so that no peer takes the one for the
/// other.
public enum Whereabouts: Hashable, Sendable, CaseIterable {
  /// At the address that was given.
  case home
  /// At the address that was given, or at a new one under which a device advertises that matches
  /// what the user selected: some devices draw another random address at each start (Core 5.4,
  /// Vol 6, Part B, 1.3.2.1). A dialer that cannot search looks at the given address.
  case homeOrNewAddress
  /// At the address whose last octet is one higher, modulo 256.
  case nextAddress
  /// At the address whose last octet is one lower, modulo 256: where the given address was already
  /// the boot loader's.
  case previousAddress

  /// What to add to the address's last octet.
  public var addressOffset: Int8 {
    switch self {
    case .home, .homeOrNewAddress: 0
    case .nextAddress: 1
    case .previousAddress: -1
    }
  }
}
