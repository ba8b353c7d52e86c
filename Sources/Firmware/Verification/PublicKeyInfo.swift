import SwiftASN1

/// The fields of a `SubjectPublicKeyInfo`: algorithm and key (RFC 5280, 4.1).
struct PublicKeyInfo: DERParseable {
  static let ed25519: ASN1ObjectIdentifier = [1, 3, 101, 112]
  static let ellipticCurve: ASN1ObjectIdentifier = [1, 2, 840, 10045, 2, 1]
  static let rsa: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 1]
  static let p256: ASN1ObjectIdentifier = [1, 2, 840, 10045, 3, 1, 7]
  static let p384: ASN1ObjectIdentifier = [1, 3, 132, 0, 34]

  struct Algorithm: DERParseable {
    let name: ASN1ObjectIdentifier
    /// The curve of an elliptic-curve key; `nil` for other keys.
    let curve: ASN1ObjectIdentifier?

    init(derEncoded node: ASN1Node) throws {
      (name, curve) = try DER.sequence(node, identifier: .sequence) { fields in
        let name = try ASN1ObjectIdentifier(derEncoded: &fields)
        // For other algorithms, the parameter is absent or NULL.
        guard let parameter = fields.next(), parameter.identifier == .objectIdentifier else {
          return (name, nil)
        }
        return (name, try ASN1ObjectIdentifier(derEncoded: parameter))
      }
    }
  }

  let algorithm: Algorithm
  let key: ArraySlice<UInt8>

  init(derEncoded node: ASN1Node) throws {
    (algorithm, key) = try DER.sequence(node, identifier: .sequence) { fields in
      let algorithm = try Algorithm(derEncoded: &fields)
      return (algorithm, try ASN1BitString(derEncoded: &fields).bytes)
    }
  }
}
