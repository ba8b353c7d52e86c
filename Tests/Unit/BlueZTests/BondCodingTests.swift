import Foundation
import OtaflashBlueZ
import Testing

/// The stored form of a bond.
@Suite struct BondCodingTests {
  private static var key: [String: Any] {
    [
      "kind": "legacy", "isForCentral": true, "size": 16, "diversifier": 0,
      "random": "0000000000000000", "value": "101112131415161718191a1b1c1d1e1f",
    ]
  }

  private static func decoded(
    device: String = "C0:FF:EE:00:00:01", identity: String? = nil, keys: Int = 1,
    _ change: (inout [String: Any]) -> Void = { _ in }
  ) throws -> Bond {
    var key = key
    change(&key)
    var members: [String: Any] = [
      "device": device, "longTermKeys": [[String: Any]](repeating: key, count: keys),
    ]
    members["identityResolvingKey"] = identity
    return try JSONDecoder().decode(
      Bond.self, from: try JSONSerialization.data(withJSONObject: members))
  }

  @Test func keysSurviveARoundTrip() throws {
    let device = try #require(BluetoothAddress("C0:FF:EE:00:00:01"))
    let keys = try [true, false].map { isForCentral in
      try #require(
        LongTermKey(
          device: device, kind: .legacyAuthenticated, isForCentral: isForCentral, size: 16,
          diversifier: 0x1234, random: 0x0807_0605_0403_0201, value: [UInt8](0x10...0x1F)))
    }
    let identity = try #require(
      IdentityResolvingKey(device: device, value: [UInt8](0xA0...0xAF)))
    let bond = try #require(Bond(longTermKeys: keys, identityResolvingKey: identity))
    let json = try JSONEncoder().encode(bond)
    let text = String(decoding: json, as: UTF8.self)
    #expect(text.contains(#""random":"0102030405060708""#))
    #expect(text.contains(#""value":"101112131415161718191a1b1c1d1e1f""#))
    #expect(try JSONDecoder().decode(Bond.self, from: json) == bond)
  }

  @Test func invalidKeysAreRejected() throws {
    _ = try Self.decoded()
    let changes: [(inout [String: Any]) -> Void] = [
      { $0["kind"] = "magic" }, { $0["size"] = 300 }, { $0["size"] = 6 }, { $0["random"] = "00" },
      { $0["value"] = "xx1112131415161718191a1b1c1d1e1f" },
      { $0["value"] = "101112131415161718191a1b1c1d1e1" },
    ]
    for change in changes {
      #expect(throws: DecodingError.self) { try Self.decoded(change) }
    }
    #expect(throws: DecodingError.self) { try Self.decoded(device: "door") }
    // A private address is not an identity address.
    #expect(throws: DecodingError.self) { try Self.decoded(device: "41:02:03:04:05:06/random") }
    #expect(throws: DecodingError.self) { try Self.decoded(identity: "00") }
    #expect(throws: DecodingError.self) { try Self.decoded(keys: 0) }
    #expect(throws: DecodingError.self) { try Self.decoded(keys: 3) }
  }
}
