import Crypto
import CryptoExtras

/// The public key with which a simulated MCUboot verifies the signatures of images. Real MCUboot
/// builds contain such a key.
struct ImageKey: Hashable, Sendable {
  private enum Material {
    case rsa(_RSA.Signing.PublicKey)
    case ecdsaP256(P256.Signing.PublicKey)
    case ed25519(Curve25519.Signing.PublicKey)
  }

  /// The key in DER: a `SubjectPublicKeyInfo`, or `RSAPublicKey` for an RSA key.
  private let encoded: [UInt8]

  /// Returns `nil` if the text is not a key.
  ///
  /// - Parameter text: the name of one of MCUboot's test keys, which are Zephyr's default for
  ///   signing images, or the DER of a public key in hexadecimal digits.
  init?(_ text: String) {
    guard let bytes = Quantity.hex(Self.mcuboot[text] ?? text) else { return nil }
    encoded = bytes
    guard material != nil else { return nil }
  }

  /// The header of an Ed25519 key of 32 bytes in its `SubjectPublicKeyInfo` (RFC 8410, 4).
  private static let ed25519Head: [UInt8] = [
    0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
  ]

  private var material: Material? {
    if encoded.starts(with: Self.ed25519Head) {
      let raw = encoded.dropFirst(Self.ed25519Head.count)
      return Self.found { .ed25519(try .init(rawRepresentation: raw)) }
    }
    return Self.found { .ecdsaP256(try .init(derRepresentation: encoded)) }
      ?? Self.found { .rsa(try .init(derRepresentation: encoded)) }
  }

  private static func found(_ make: () throws -> Material) -> Material? {
    do { return try make() } catch { return nil }
  }

  // MARK: TLVs of an image

  private static let keyHash: UInt16 = 0x01
  private static let wholeKey: UInt16 = 0x02
  private static let rsa2048: UInt16 = 0x20
  private static let ecdsa: UInt16 = 0x22
  private static let rsa3072: UInt16 = 0x23
  private static let ed25519: UInt16 = 0x24
  private static let signatures = [rsa2048, ecdsa, rsa3072, ed25519]

  /// Returns whether the first signature that follows a TLV with this key or its hash is valid.
  /// MCUboot ignores a signature without such a TLV.
  func hasSigned(_ records: [BootableImage.Record], covering digest: SHA256.Digest) -> Bool {
    guard let material else { return false }
    let name = Array(SHA256.hash(data: encoded))
    var isNamed = false
    for record in records {
      switch record.type {
      case Self.keyHash: isNamed = record.value == name
      case Self.wholeKey: isNamed = record.value == encoded
      case let type where Self.signatures.contains(type):
        if isNamed { return Self.isValid(record, by: material, covering: digest) }
      default: break
      }
    }
    return false
  }

  private static func isValid(
    _ record: BootableImage.Record, by material: Material, covering digest: SHA256.Digest
  ) -> Bool {
    switch (material, record.type) {
    case (.rsa(let key), rsa2048), (.rsa(let key), rsa3072):
      return key.isValidSignature(
        _RSA.Signing.RSASignature(rawRepresentation: record.value), for: digest, padding: .PSS)
    case (.ecdsaP256(let key), ecdsa):
      // Older tools pad the signature with zeros; the length of the DER sequence is valid.
      guard record.value.count > 2 else { return false }
      let bytes = record.value.prefix(2 + Int(record.value[1]))
      guard let signature = decoded({ try P256.Signing.ECDSASignature(derRepresentation: bytes) })
      else { return false }
      return key.isValidSignature(signature, for: digest)
    case (.ed25519(let key), ed25519):
      return key.isValidSignature(record.value, for: Array(digest))
    case (.rsa, _), (.ecdsaP256, _), (.ed25519, _): return false
    }
  }

  private static func decoded<Value>(_ make: () throws -> Value) -> Value? {
    do { return try make() } catch { return nil }
  }
}

extension ImageKey {
  /// The public keys of MCUboot's source, by their file names (`root-….pem`). Their private keys
  /// are published as well: a device with such a key accepts images from any signer.
  static let mcuboot = [
    "root-ec-p256":
      "3059301306072a8648ce3d020106082a8648ce3d030107034200042acb403ce8feed5ba44995a1a91daee8"
      + "dbbe1937cd14fb2f245737e5953988d994b9d65aebd7cdd5308ad6fe48b24a6a810ee5f07d8b6834cc3a"
      + "6afc538efac1",
    "root-ed25519":
      "302a300506032b6570032100d4b31ba49a3add3f825d10ca7f31b50b0de87f37ccc49f1a403a5c1320ffb4e0",
    "root-rsa-2048":
      "3082010a0282010100d106081a18442c18e8fbfdf70da34f1fbbee5ef9aad24b18d35ae96d188019f9f09c341b"
      + "cbf3bc74db42e78c7f10537e435e0d572c44d167080f0dbb5ceeecb399dfe04d840baa774160ed152849a701b4"
      + "3c10e6698c2f5fac414d9e5c14dff2f8cf3d1e6fe75bbab4a9c8887e473c94c37767544baa8d3835ca62617eb7"
      + "e115db7773d4be7b7221896924fbf8656e643ec80ed785d55c4ae4530d2fffb7fdf31339833fa3aed20fa76a9d"
      + "f9feb8cefa2abeafb8e0fa823754f43ee12bd0d3085818f65e4cc8888131ad5fb08217f28a692723f3ab873e93"
      + "1a1dfee8f81a246659f81cabdcce681b666435ecfa0d119daf5c3aa7d167"
      + "c647efb14b2c62e1d1c90203010001",
  ]
}
