/// What is kept of a pairing: enough to encrypt the next link to the device without another one
/// (Core 5.4, Vol 3, Part C, 9.4.4).
public struct Bond: Equatable, Sendable {
  /// Legacy pairing makes one key for each role, LE Secure Connections one for both.
  public static let keysMaximum = 2

  /// One or two, all of one device.
  public private(set) var longTermKeys: [LongTermKey]
  /// The key by which the device's private addresses are told, where it gave one.
  public internal(set) var identityResolvingKey: IdentityResolvingKey?

  /// `nil` unless there are one or two keys of one device.
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

  /// Whether links under it are protected against a man in the middle.
  public var isAuthenticated: Bool { longTermKeys.allSatisfy(\.isAuthenticated) }

  /// A further key of the same pairing; one for the same role replaces the older one.
  mutating func add(_ key: LongTermKey) {
    longTermKeys.removeAll { $0.isForCentral == key.isForCentral }
    longTermKeys.append(key)
  }
}
