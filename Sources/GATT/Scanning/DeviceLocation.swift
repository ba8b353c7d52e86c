/// The location of a device, relative to the address by which the caller first specified the
/// device. A bootloader may use another address than its application, so that hosts do not confuse
/// the two programs.
public enum DeviceLocation: Hashable, Sendable {
  /// At the specified address.
  case home
  /// At the specified address, or at a new address under which a matching device advertises: some
  /// devices use another random address after each start (Core 5.4, Vol 6, Part B, 1.3.2.1). A
  /// dialer that cannot search uses the specified address.
  case homeOrNewAddress
  /// At the address whose last byte is one higher, modulo 256.
  case nextAddress
  /// At the address whose last byte is one lower, modulo 256, for a specified address that is
  /// already the address of the bootloader.
  case previousAddress
  /// At the address whose lowest bit is inverted: Nordic's single-slot firmware loader
  /// (sdk-nrf-bm, `applications/firmware_loader/ble_mcumgr`).
  case flippedAddress
  /// At any address under which a device advertises this name.
  case advertising(name: String)

  /// Returns the last byte of the address at this location; `nil` if the address is not known.
  ///
  /// - Parameter home: the last byte of the specified address.
  public func lastByte(from home: UInt8) -> UInt8? {
    switch self {
    case .home, .homeOrNewAddress: home
    case .nextAddress: home &+ 1
    case .previousAddress: home &- 1
    case .flippedAddress: home ^ 1
    case .advertising: nil
    }
  }

  /// Whether the search is for the specified device, and not for its bootloader at another address.
  public var isHome: Bool { self == .home || self == .homeOrNewAddress }
}
