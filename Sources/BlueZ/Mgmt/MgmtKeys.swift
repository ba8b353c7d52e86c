import OtaflashWire

/// A key that encrypts a link between two paired devices (Core 5.4, Vol 3, Part H, 2.4.2.3), as the
/// kernel hands it out and takes it back (BlueZ doc/mgmt-api.txt, Load Long Term Keys).
public struct LongTermKey: Equatable, Sendable {
  /// How the key came to be, which says what a link encrypted by it guarantees.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// Legacy pairing, "Just Works".
    case legacyUnauthenticated = 0
    /// Legacy pairing with a passkey.
    case legacyAuthenticated = 1
    /// LE Secure Connections.
    case secureUnauthenticated = 2
    /// Secure Connections, with a passkey or a comparison of numbers.
    case secureAuthenticated = 3
    /// Made with a key pair that everybody knows; never kept.
    case debug = 4
  }

  /// Bytes in the kernel's structure.
  static let encodedSize = 36
  static let valueSize = 16
  static let sizes: ClosedRange<UInt8> = 7...16

  /// The device's identity address.
  public let device: BluetoothAddress
  /// How the key was made.
  public let kind: Kind
  /// Legacy pairing makes a key for each role; this one is for the central.
  public let isForCentral: Bool
  /// Bytes of the value that count, 7…16.
  public let size: UInt8
  /// By which a device finds the key again; 0 with Secure Connections.
  public let diversifier: UInt16
  /// `Rand` of legacy pairing; 0 for keys of Secure Connections.
  public let random: UInt64
  /// 16 bytes.
  public let value: [UInt8]

  /// `nil` for what is no key: another number of bytes than 16, a size out of range, an address of
  /// a kind that changes.
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

  /// Whether a link that is encrypted by it is protected against a man in the middle.
  public var isAuthenticated: Bool { kind == .legacyAuthenticated || kind == .secureAuthenticated }

  /// `nil` for a key of a kind or an address that cannot be kept.
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

/// A key by which a device's changing addresses are recognized (Core 5.4, Vol 3, Part H, 2.4.2.1).
public struct IdentityResolvingKey: Equatable, Sendable {
  static let valueSize = 16

  /// The device's identity address.
  public let device: BluetoothAddress
  /// 16 bytes.
  public let value: [UInt8]

  /// `nil` unless there are 16 bytes and an address that never changes.
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
  /// Public, or static random (Core 5.4, Vol 6, Part B, 1.3): it stays, so keys can be kept for it.
  var isIdentity: Bool { kind == .publicDevice || littleEndian[5] >> 6 == 0b11 }

  /// Address and type, as the management interface wants them.
  var mgmtBytes: [UInt8] { littleEndian + [kind.rawValue] }
}

extension MgmtFields {
  /// `nil` for an address of BR/EDR.
  mutating func address() throws(MgmtDecodeFault) -> BluetoothAddress? {
    let bytes = Array(try bytes(6))
    return BluetoothAddress.Kind(rawValue: try uint8()).map {
      BluetoothAddress(checked: bytes, kind: $0)
    }
  }
}
