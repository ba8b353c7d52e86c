/// The stored form of a bond: named members. Bytes are pairs of hexadecimal digits in the order of
/// the kernel's structures.
extension Bond: Codable {
  private enum Member: String, CodingKey {
    case device, longTermKeys, identityResolvingKey
  }

  /// Decodes a bond.
  ///
  /// - Throws: `DecodingError` if the data is not a bond.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Member.self)
    let text = try members.decode(String.self, forKey: .device)
    guard let device = BluetoothAddress(text) else {
      throw DecodingError.dataCorruptedError(
        forKey: .device, in: members, debugDescription: "'\(text)' is not a Bluetooth address")
    }
    let keys = try members.decode([KeptKey].self, forKey: .longTermKeys).map { key in
      guard let key = key.longTermKey(of: device) else {
        throw DecodingError.dataCorruptedError(
          forKey: .longTermKeys, in: members, debugDescription: "this is not a Long Term Key")
      }
      return key
    }
    let identity = try members.decodeIfPresent(String.self, forKey: .identityResolvingKey).map {
      digits in
      guard let value = Hexadecimal.bytes(digits),
        let key = IdentityResolvingKey(device: device, value: value)
      else {
        throw DecodingError.dataCorruptedError(
          forKey: .identityResolvingKey, in: members,
          debugDescription: "this is not an Identity Resolving Key")
      }
      return key
    }
    guard let bond = Bond(longTermKeys: keys, identityResolvingKey: identity) else {
      throw DecodingError.dataCorruptedError(
        forKey: .longTermKeys, in: members, debugDescription: "a bond has one or two keys")
    }
    self = bond
  }

  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Member.self)
    try members.encode("\(device)", forKey: .device)
    try members.encode(longTermKeys.map(KeptKey.init), forKey: .longTermKeys)
    try members.encodeIfPresent(
      identityResolvingKey.map { Hexadecimal.text($0.value) }, forKey: .identityResolvingKey)
  }
}

/// The stored form of a Long Term Key.
private struct KeptKey: Codable {
  let kind: String
  let isForCentral: Bool
  let size: Int
  let diversifier: UInt16
  let random: String
  let value: String

  init(_ key: LongTermKey) {
    kind = key.kind.word
    isForCentral = key.isForCentral
    size = Int(key.size)
    diversifier = key.diversifier
    random = Hexadecimal.text((0..<8).map { UInt8(truncatingIfNeeded: key.random >> (8 * $0)) })
    value = Hexadecimal.text(key.value)
  }

  func longTermKey(of device: BluetoothAddress) -> LongTermKey? {
    guard let kind = LongTermKey.Kind.allCases.first(where: { $0.word == self.kind }),
      let size = UInt8(exactly: size), let value = Hexadecimal.bytes(value),
      let random = Hexadecimal.bytes(random), random.count == 8
    else { return nil }
    return LongTermKey(
      device: device, kind: kind, isForCentral: isForCentral, size: size,
      diversifier: diversifier, random: random.reversed().reduce(0) { $0 << 8 | UInt64($1) },
      value: value)
  }
}

extension LongTermKey.Kind {
  /// The name in the stored form.
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

/// Bytes as pairs of hexadecimal digits.
private enum Hexadecimal {
  static func text(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Parses bytes; returns `nil` for an odd number of digits, or for an invalid digit.
  static func bytes(_ text: String) -> [UInt8]? {
    let digits = text.map(\.hexDigitValue)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }
}
