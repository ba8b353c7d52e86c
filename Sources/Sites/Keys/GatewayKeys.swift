#if Sites
import Crypto
import FoundationEssentials

/// The public key (X25519) of a gateway, with which the keys of devices are encrypted.
package struct GatewayPublicKey: Hashable, Sendable {
  static let byteCount = 32

  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Decodes Base64; returns `nil` if the text is not a key.
  package init?(_ text: String) {
    guard let data = Data(base64Encoded: text), data.count == Self.byteCount else { return nil }
    bytes = Array(data)
  }

  /// The key in Base64.
  package var text: String { Data(bytes).base64EncodedString() }

  /// The first 8 bytes of the SHA-256 of this key. They mark the part of a `SealedKey` that the
  /// gateway can decrypt.
  var tag: [UInt8] { Array(SHA256.hash(data: bytes).prefix(8)) }

  func agreementKey() throws -> Curve25519.KeyAgreement.PublicKey {
    try Curve25519.KeyAgreement.PublicKey(rawRepresentation: bytes)
  }
}

extension GatewayPublicKey: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let key = GatewayPublicKey(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no public key")
    }
    self = key
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// The private key of a gateway, which only its credentials file contains.
package struct GatewayPrivateKey: Sendable {
  let key: Curve25519.KeyAgreement.PrivateKey

  /// Generates a key.
  package init() { key = Curve25519.KeyAgreement.PrivateKey() }

  /// Decodes Base64; returns `nil` if the text is not a key.
  package init?(_ text: String) {
    guard let data = Data(base64Encoded: text) else { return nil }
    do { key = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: data) } catch {
      return nil
    }
  }

  /// The key in Base64, which is secret.
  package var secretText: String { key.rawRepresentation.base64EncodedString() }

  package var publicKey: GatewayPublicKey {
    GatewayPublicKey(bytes: Array(key.publicKey.rawRepresentation))
  }
}

extension GatewayPrivateKey: CustomStringConvertible {
  /// The public key. The text omits the private key, so that no message or log contains it.
  package var description: String { "the private key of \(publicKey.text)" }
}
#endif
