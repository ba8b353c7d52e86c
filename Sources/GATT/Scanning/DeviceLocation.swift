/// Where a device is to be found, seen from the address that it was first given by. A bootloader
/// may have an address of its own beside the application's, so that no peer takes the one for the
/// other.
public enum DeviceLocation: Hashable, Sendable {
  /// At the address that was given.
  case home
  /// At the address that was given, or at a new one under which a device advertises that matches
  /// what the user selected: some devices draw another random address at each start (Core 5.4,
  /// Vol 6, Part B, 1.3.2.1). A dialer that cannot search looks at the given address.
  case homeOrNewAddress
  /// At the address whose last byte is one higher, modulo 256.
  case nextAddress
  /// At the address whose last byte is one lower, modulo 256: where the given address was already
  /// the bootloader's.
  case previousAddress
  /// At the address whose lowest bit is the other one: Nordic's single-slot firmware loader
  /// (sdk-nrf-bm, `applications/firmware_loader/ble_mcumgr`).
  case flippedAddress
  /// At any address under which a device advertises this name.
  case advertising(name: String)

  /// The last byte of the address at this place, or `nil` if the address is not known.
  ///
  /// - Parameter home: the last byte of the address that was given.
  public func lastByte(from home: UInt8) -> UInt8? {
    switch self {
    case .home, .homeOrNewAddress: home
    case .nextAddress: home &+ 1
    case .previousAddress: home &- 1
    case .flippedAddress: home ^ 1
    case .advertising: nil
    }
  }

  /// Whether the device itself is searched for, in contrast to its bootloader at another address.
  public var isHome: Bool { self == .home || self == .homeOrNewAddress }
}
