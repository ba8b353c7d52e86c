/// The stored keys of a pairing: sufficient to encrypt the next link to the device without pairing
/// again (Core 5.4, Vol 3, Part C, 9.4.4).
public struct Bond: Equatable, Sendable {
  /// The maximum number of keys: legacy pairing creates one key for each role, LE Secure
  /// Connections creates one key for both roles.
  public static let keysMaximum = 2

  /// The keys of one device, one or two.
  public private(set) var longTermKeys: [LongTermKey]
  /// The Identity Resolving Key (IRK), if the device sent one.
  public internal(set) var identityResolvingKey: IdentityResolvingKey?

  /// Creates a bond; returns `nil` unless there are one or two keys, all of the same device.
  public init?(longTermKeys: [LongTermKey], identityResolvingKey: IdentityResolvingKey? = nil) {
    guard 1...Self.keysMaximum ~= longTermKeys.count,
      Set(longTermKeys.map(\.device)).count == 1,
      identityResolvingKey.map({ $0.device == longTermKeys[0].device }) ?? true
    else { return nil }
    self.longTermKeys = longTermKeys
    self.identityResolvingKey = identityResolvingKey
  }

  init(_ key: LongTermKey, _ identity: IdentityResolvingKey?) {
    longTermKeys = [key]
    identityResolvingKey = identity
  }

  /// The device's identity address.
  public var device: BluetoothAddress { longTermKeys[0].device }

  /// Whether links with these keys are protected against a man in the middle.
  public var isAuthenticated: Bool { longTermKeys.allSatisfy(\.isAuthenticated) }

  /// Adds a key of the same pairing; the key replaces an older key for the same role.
  mutating func add(_ key: LongTermKey) {
    longTermKeys.removeAll { $0.isForCentral == key.isForCentral }
    longTermKeys.append(key)
  }
}
