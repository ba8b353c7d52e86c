import Crypto
import CryptoExtras

extension MCUbootImage {
  func checkIntegrity(of file: [UInt8]) throws(ProofFault) -> ImageIntegrity {
    guard let hash else {
      guard !isEncrypted else { return .encrypted }
      throw .hashMissing
    }
    let computed = hash.algorithm.hash(file[..<coveredSize])
    guard computed == hash.bytes else {
      // The hash covers the decrypted body.
      guard !isEncrypted else { return .encrypted }
      throw .hashDiffers(stated: hash.bytes, computed: computed)
    }
    return .whole(hash.algorithm.rawValue)
  }

  /// Checks that the key signed the image. An image may be signed by several keys. Each signature
  /// is preceded by its key or the hash of its key; bootloaders ignore a signature that neither of
  /// them precedes.
  func checkSignature(by key: VerificationKey, of file: [UInt8]) throws(ProofFault) {
    guard try checkIntegrity(of: file) != .encrypted else { throw .encrypted }
    guard let hash else { throw .hashMissing }
    try checkRest(of: file)
    let wanted = hash.algorithm.hash(key.encoded[...])
    var stated: [UInt8]?
    var fault = ProofFault.unsigned
    for entry in entries {
      switch entry.type {
      case .keyHash: stated = entry.value
      case .publicKey: stated = hash.algorithm.hash(entry.value[...])
      case .rsa2048, .rsa3072, .ecdsa224, .ecdsa, .ed25519:
        guard let signer = stated else { continue }
        stated = nil
        if signer != wanted {
          fault = .otherKey(stated: signer, wanted: wanted)
        } else if !key.algorithm.writes(entry.type) {
          fault = .otherAlgorithm(image: entry.type.description, key: key.algorithm)
        } else if isValid(entry.value, by: key, over: file[..<coveredSize], hash) {
          return
        } else {
          throw .signatureWrong
        }
      default: break
      }
    }
    throw fault
  }

  /// Checks that only fill (0xFF or 0x00) or the trailer of a slot follows the image.
  private func checkRest(of file: [UInt8]) throws(ProofFault) {
    let trailerSize = trailer.map { max(MCUbootTrailer.magicSize, $0.alignment) + 3 * $0.alignment }
    let rest = file[size..<(file.count - (trailerSize ?? 0))]
    let isFill = [0xFF, 0].contains { fill in rest.allSatisfy { $0 == fill } }
    guard isFill else { throw .uncovered(offset: size, count: rest.count) }
  }

  private func isValid(
    _ signature: [UInt8], by key: VerificationKey, over covered: ArraySlice<UInt8>, _ hash: Hash
  ) -> Bool {
    switch key.material {
    case .ed25519(let key):
      let isPure = entries.contains { $0.type == .pureSignature && $0.value == [1] }
      return key.isValidSignature(signature, for: isPure ? Array(covered) : hash.bytes)
    case .ecdsaP256(let key):
      guard let bytes = Self.unpadded(signature),
        let signature = P256.Signing.ECDSASignature(derBytes: bytes)
      else { return false }
      return key.isValidSignature(signature, for: SHA256.hash(data: covered))
    case .ecdsaP384(let key):
      guard let bytes = Self.unpadded(signature),
        let signature = P384.Signing.ECDSASignature(derBytes: bytes)
      else { return false }
      return key.isValidSignature(signature, for: SHA384.hash(data: covered))
    case .rsa2048(let key), .rsa3072(let key):
      return key.isValidSignature(
        _RSA.Signing.RSASignature(rawRepresentation: signature),
        for: SHA256.hash(data: covered), padding: .PSS)
    }
  }

  /// Returns a signature without its padding: older tools pad a signature with zeros to its maximum
  /// size. Returns `nil` if other bytes follow the signature, or if it is truncated.
  private static func unpadded(_ signature: [UInt8]) -> [UInt8]? {
    guard signature.count >= 2, signature[1] < 0x80, signature.count >= Int(signature[1]) + 2
    else { return nil }
    let size = Int(signature[1]) + 2
    guard signature[size...].allSatisfy({ $0 == 0 }) else { return nil }
    return Array(signature[..<size])
  }
}

extension MCUbootImage.Hash.Algorithm {
  func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    switch self {
    case .sha256: Array(SHA256.hash(data: bytes))
    case .sha384: Array(SHA384.hash(data: bytes))
    case .sha512: Array(SHA512.hash(data: bytes))
    }
  }
}

extension VerificationKey.Algorithm {
  /// Returns whether an entry of this type can contain a signature by a key with this algorithm.
  /// ECDSA has one type for both curves.
  fileprivate func writes(_ type: MCUbootTLVType) -> Bool {
    switch self {
    case .ed25519: type == .ed25519
    case .ecdsaP256, .ecdsaP384: type == .ecdsa
    case .rsa2048: type == .rsa2048
    case .rsa3072: type == .rsa3072
    }
  }
}

extension P256.Signing.ECDSASignature {
  /// Returns `nil` if the bytes are not the DER encoding of two numbers.
  fileprivate init?(derBytes: [UInt8]) {
    do { try self.init(derRepresentation: derBytes) } catch { return nil }
  }
}

extension P384.Signing.ECDSASignature {
  /// Returns `nil` if the bytes are not the DER encoding of two numbers.
  fileprivate init?(derBytes: [UInt8]) {
    do { try self.init(derRepresentation: derBytes) } catch { return nil }
  }
}
