import OtaflashBlueZ
import OtaflashFleet

extension LongTermKey.Kind {
  /// The word for it on disk.
  fileprivate var word: String {
    switch self {
    case .legacyUnauthenticated: "legacy"
    case .legacyAuthenticated: "legacy-authenticated"
    case .secureUnauthenticated: "secure-connections"
    case .secureAuthenticated: "secure-connections-authenticated"
    case .debug: "debug"
    }
  }
}

extension BondRecord {
  init(_ bond: Bond, adapter: BluetoothAddress, at time: Double) {
    self.init(
      adapter: "\(adapter)", device: "\(bond.device)",
      longTermKeys: bond.longTermKeys.map { key in
        Key(
          kind: key.kind.word, isForCentral: key.isForCentral, size: Int(key.size),
          diversifier: key.diversifier,
          random: Hexadecimal.text(
            (0..<8).map { UInt8(truncatingIfNeeded: key.random >> (8 * $0)) }),
          value: Hexadecimal.text(key.value))
      },
      identityResolvingKey: bond.identityResolvingKey.map { Hexadecimal.text($0.value) }, at: time)
  }

  /// `nil` when the record holds what cannot be a bond.
  var bond: Bond? {
    guard let address = BluetoothAddress(device) else { return nil }
    let keys = longTermKeys.compactMap { key(of: address, $0) }
    guard keys.count == longTermKeys.count else { return nil }
    var identity: IdentityResolvingKey?
    if let identityResolvingKey {
      identity = Hexadecimal.octets(identityResolvingKey).flatMap {
        IdentityResolvingKey(device: address, value: $0)
      }
      guard identity != nil else { return nil }
    }
    return Bond(longTermKeys: keys, identityResolvingKey: identity)
  }

  private func key(of device: BluetoothAddress, _ key: Key) -> LongTermKey? {
    guard let kind = LongTermKey.Kind.allCases.first(where: { $0.word == key.kind }),
      let size = UInt8(exactly: key.size), let value = Hexadecimal.octets(key.value),
      let random = Hexadecimal.octets(key.random), random.count == 8
    else { return nil }
    return LongTermKey(
      device: device, kind: kind, isForCentral: key.isForCentral, size: size,
      diversifier: key.diversifier, random: random.reversed().reduce(0) { $0 << 8 | UInt64($1) },
      value: value)
  }
}

/// Octets as pairs of digits.
enum Hexadecimal {
  static func text(_ octets: [UInt8]) -> String {
    octets.map { Text.padded(String($0, radix: 16), 2) }.joined()
  }

  /// `nil` for an odd number of digits, or for what is no digit.
  static func octets(_ text: String) -> [UInt8]? {
    let digits = text.map(\.hexDigitValue)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var octets: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      octets.append(UInt8(high << 4 | low))
    }
    return octets
  }
}
