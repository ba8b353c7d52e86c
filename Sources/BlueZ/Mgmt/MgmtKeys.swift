import OtaflashWire

/// A key that encrypts a link between two paired devices (Core 5.4, Vol 3, Part H, 2.4.2.3), as the
/// kernel reports and loads it (BlueZ doc/mgmt-api.txt, Load Long Term Keys).
public struct LongTermKey: Equatable, Sendable {
  /// The pairing method that created the key. The method determines the security of a link that is
  /// encrypted with the key.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// Legacy pairing, "Just Works".
    case legacyUnauthenticated = 0
    /// Legacy pairing with a passkey.
    case legacyAuthenticated = 1
    /// LE Secure Connections, "Just Works".
    case secureUnauthenticated = 2
    /// Secure Connections, with a passkey or a comparison of numbers.
    case secureAuthenticated = 3
    /// A key created with a publicly known key pair; such keys are never stored.
    case debug = 4
  }

  /// The size of the kernel's structure in bytes.
  static let encodedSize = 36
  static let valueSize = 16
  static let sizes: ClosedRange<UInt8> = 7...16

  /// The device's identity address.
  public let device: BluetoothAddress
  /// The pairing method of the key.
  public let kind: Kind
  /// Whether the key is for the central: legacy pairing creates a key for each role.
  public let isForCentral: Bool
  /// The key size in bytes, 7…16.
  public let size: UInt8
  /// The identifier with which a device finds the key; 0 with Secure Connections.
  public let diversifier: UInt16
  /// `Rand` of legacy pairing; 0 for keys of Secure Connections.
  public let random: UInt64
  /// The key, 16 bytes.
  public let value: [UInt8]

  /// Creates a key; returns `nil` if `value` does not have 16 bytes, `size` is out of range, or
  /// `device` is not an identity address.
  public init?(
    device: BluetoothAddress, kind: Kind, isForCentral: Bool, size: UInt8, diversifier: UInt16,
    random: UInt64, value: [UInt8]
  ) {
    guard value.count == Self.valueSize, Self.sizes.contains(size), device.isIdentity else {
      return nil
    }
    self.device = device
    self.kind = kind
    self.isForCentral = isForCentral
    self.size = size
    self.diversifier = diversifier
    self.random = random
    self.value = value
  }

  /// Whether a link encrypted with the key is protected against a man in the middle.
  public var isAuthenticated: Bool { kind == .legacyAuthenticated || kind == .secureAuthenticated }

  /// Decodes a key; returns `nil` for a key whose kind, size or address cannot be stored.
  static func decode(_ fields: inout MgmtFields) throws(MgmtDecodeFault) -> LongTermKey? {
    let address = try fields.address()
    let kind = Kind(rawValue: try fields.uint8())
    let isForCentral = try fields.uint8() != 0
    let size = try fields.uint8()
    let diversifier = try fields.uint16()
    let random = UInt64(try fields.uint32()) | UInt64(try fields.uint32()) << 32
    let value = Array(try fields.bytes(valueSize))
    guard let address, let kind else { return nil }
    return LongTermKey(
      device: address, kind: kind, isForCentral: isForCentral, size: size,
      diversifier: diversifier, random: random, value: value)
  }

  var bytes: [UInt8] {
    device.mgmtBytes + [kind.rawValue, isForCentral ? 1 : 0, size] + diversifier.bytes
      + (0..<8).map { UInt8(truncatingIfNeeded: random >> (8 * $0)) } + value
  }
}

/// The Identity Resolving Key (IRK), which resolves a device's private addresses (Core 5.4, Vol 3,
/// Part H, 2.4.2.1).
public struct IdentityResolvingKey: Equatable, Sendable {
  static let valueSize = 16

  /// The device's identity address.
  public let device: BluetoothAddress
  /// The key, 16 bytes.
  public let value: [UInt8]

  /// Creates a key; returns `nil` unless `value` has 16 bytes and `device` is an identity address.
  public init?(device: BluetoothAddress, value: [UInt8]) {
    guard value.count == Self.valueSize, device.isIdentity else { return nil }
    self.device = device
    self.value = value
  }

  static func decode(_ fields: inout MgmtFields) throws(MgmtDecodeFault) -> IdentityResolvingKey? {
    let address = try fields.address()
    let value = Array(try fields.bytes(valueSize))
    return address.flatMap { IdentityResolvingKey(device: $0, value: value) }
  }

  var bytes: [UInt8] { device.mgmtBytes + value }
}

extension BluetoothAddress {
  /// Whether the address is public or static random (Core 5.4, Vol 6, Part B, 1.3). Such an address
  /// is permanent, so keys can be stored for it.
  var isIdentity: Bool { kind == .publicDevice || littleEndian[5] >> 6 == 0b11 }

  /// The address and its type in the format of the management interface.
  var mgmtBytes: [UInt8] { littleEndian + [kind.rawValue] }
}

extension MgmtFields {
  /// Reads an address; returns `nil` for a BR/EDR address.
  mutating func address() throws(MgmtDecodeFault) -> BluetoothAddress? {
    let bytes = Array(try bytes(6))
    return BluetoothAddress.Kind(rawValue: try uint8()).map {
      BluetoothAddress(checked: bytes, kind: $0)
    }
  }
}
