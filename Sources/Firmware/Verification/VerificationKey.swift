import Crypto
import CryptoExtras
import SwiftASN1

/// The public key that images must be signed by.
public struct VerificationKey: Sendable {
  /// The key's kind.
  public enum Algorithm: String, Sendable, CaseIterable {
    /// RFC 8032.
    case ed25519 = "Ed25519"
    /// FIPS 186, on P-256.
    case ecdsaP256 = "ECDSA P-256"
    /// FIPS 186, on P-384.
    case ecdsaP384 = "ECDSA P-384"
    /// RSASSA-PSS (RFC 8017) with 2,048 bits.
    case rsa2048 = "RSA-2048"
    /// RSASSA-PSS (RFC 8017) with 3,072 bits.
    case rsa3072 = "RSA-3072"
  }

  enum Material: Sendable {
    case ed25519(Curve25519.Signing.PublicKey)
    case ecdsaP256(P256.Signing.PublicKey)
    case ecdsaP384(P384.Signing.PublicKey)
    case rsa2048(_RSA.Signing.PublicKey)
    case rsa3072(_RSA.Signing.PublicKey)
  }

  /// Of a key file, in bytes; that of an RSA-3072 key has about 600.
  public static let fileSizeMaximum = 16 << 10

  let material: Material
  /// The bytes whose hash an MCUboot image carries to name its key: a `SubjectPublicKeyInfo`, of
  /// an RSA key its `RSAPublicKey` alone.
  let encoded: [UInt8]

  /// SHA-256 of the key, by which an MCUboot image names it.
  package var digest: [UInt8] { Array(SHA256.hash(data: encoded)) }

  /// The key's kind.
  public var algorithm: Algorithm {
    switch material {
    case .ed25519: .ed25519
    case .ecdsaP256: .ecdsaP256
    case .ecdsaP384: .ecdsaP384
    case .rsa2048: .rsa2048
    case .rsa3072: .rsa3072
    }
  }

  /// Reads a key file in PEM (RFC 7468) with one `PUBLIC KEY`. A file with a private key is
  /// refused: where images are only checked it has no business.
  public init(pem: [UInt8]) throws(VerificationKeyFault) {
    guard pem.count <= Self.fileSizeMaximum else { throw .tooLarge(limit: Self.fileSizeMaximum) }
    guard let text = String(validating: pem, as: UTF8.self) else { throw .notPEM }
    if text.firstMatch(of: /-----BEGIN [A-Z ]*PRIVATE KEY-----/) != nil { throw .privateKey }
    let documents: [PEMDocument]
    do {
      documents = try PEMDocument.parseMultiple(pemString: Self.withStandardLines(text))
    } catch {
      throw .notPEM
    }
    guard let document = documents.first else { throw .notPEM }
    guard documents.count == 1 else { throw .severalKeys(documents.count) }
    guard document.discriminator == "PUBLIC KEY" else {
      throw .notAPublicKey(document.discriminator)
    }
    try self.init(publicKeyInfo: document.derBytes)
  }

  /// Reads a `SubjectPublicKeyInfo` (RFC 5280, 4.1).
  init(publicKeyInfo der: [UInt8]) throws(VerificationKeyFault) {
    let info: PublicKeyInfo
    do { info = try PublicKeyInfo(derEncoded: der) } catch { throw .malformed }
    do {
      material = try Self.material(info, der: der)
    } catch let fault as VerificationKeyFault {
      throw fault
    } catch {
      throw .malformed
    }
    if case .rsa2048(let key) = material {
      encoded = Array(key.pkcs1DERRepresentation)
    } else if case .rsa3072(let key) = material {
      encoded = Array(key.pkcs1DERRepresentation)
    } else {
      encoded = der
    }
  }

  /// The parser wants lines of 64 characters, as RFC 7468, 2, has them; nrfutil writes 76.
  private static func withStandardLines(_ text: String) -> String {
    var lines: [Substring] = []
    var content = ""
    for line in text.split(whereSeparator: \.isNewline) {
      guard line.hasPrefix("-----") else {
        content += line.filter { !$0.isWhitespace }
        continue
      }
      var rest = content[...]
      while !rest.isEmpty {
        lines.append(rest.prefix(lineLength))
        rest = rest.dropFirst(lineLength)
      }
      content = ""
      lines.append(line)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static let lineLength = 64

  private static func material(_ info: PublicKeyInfo, der: [UInt8]) throws -> Material {
    switch (info.algorithm.name, info.algorithm.curve) {
    case (PublicKeyInfo.ed25519, _):
      return .ed25519(try Curve25519.Signing.PublicKey(rawRepresentation: info.key))
    case (PublicKeyInfo.ellipticCurve, PublicKeyInfo.p256):
      return .ecdsaP256(try P256.Signing.PublicKey(derRepresentation: der))
    case (PublicKeyInfo.ellipticCurve, PublicKeyInfo.p384):
      return .ecdsaP384(try P384.Signing.PublicKey(derRepresentation: der))
    case (PublicKeyInfo.rsa, _):
      let key = try _RSA.Signing.PublicKey(derRepresentation: der)
      switch key.keySizeInBits {
      case 2048: return .rsa2048(key)
      case 3072: return .rsa3072(key)
      default: throw VerificationKeyFault.unusedRSASize(bits: key.keySizeInBits)
      }
    default: throw VerificationKeyFault.unknownAlgorithm(String(describing: info.algorithm.name))
    }
  }
}

/// Why a file is no key to check signatures with.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum VerificationKeyFault: Error, Equatable, Sendable {
  /// The file is longer than any key.
  case tooLarge(limit: Int)
  /// There is no block of PEM in the file.
  case notPEM
  /// The file has a private key, which belongs elsewhere.
  case privateKey
  /// The file has more keys than one.
  case severalKeys(Int)
  /// A PEM file of another kind, by its label.
  case notAPublicKey(String)
  /// What is in the block is no public key.
  case malformed
  /// An algorithm that no bootloader here uses, by its object identifier.
  case unknownAlgorithm(String)
  /// An RSA key of a size that no bootloader knows.
  case unusedRSASize(bits: Int)
}

extension VerificationKeyFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tooLarge(let limit): "a key file has at most \(limit) bytes"
    case .notPEM: "no PEM file with '-----BEGIN PUBLIC KEY-----'"
    case .privateKey: "it holds a private key; only the public one is needed here"
    case .severalKeys(let count): "it holds \(count) keys; one is wanted"
    case .notAPublicKey(let label): "it holds a '\(label)', not a 'PUBLIC KEY'"
    case .malformed: "the public key in it is damaged"
    case .unknownAlgorithm(let identifier): "algorithm \(identifier) is not known"
    case .unusedRSASize(let bits): "RSA keys have 2048 or 3072 bits, this one \(bits)"
    }
  }
}
