import Crypto
import CryptoExtras
import SwiftASN1

/// The public key that the signature of an image must match.
public struct VerificationKey: Sendable {
  /// The algorithm of the key.
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

  /// The maximum size of a key file in bytes; the file of an RSA-3072 key has about 600 bytes.
  public static let fileSizeMaximum = 16 << 10

  let material: Material
  /// The bytes whose hash identifies the key in an MCUboot image: a `SubjectPublicKeyInfo`, or only
  /// the `RSAPublicKey` of an RSA key.
  let encoded: [UInt8]

  /// The SHA-256 of the key, which identifies the key in an MCUboot image with a SHA-256.
  package var digest: [UInt8] { Array(SHA256.hash(data: encoded)) }

  /// The algorithm of the key.
  public var algorithm: Algorithm {
    switch material {
    case .ed25519: .ed25519
    case .ecdsaP256: .ecdsaP256
    case .ecdsaP384: .ecdsaP384
    case .rsa2048: .rsa2048
    case .rsa3072: .rsa3072
    }
  }

  /// Decodes a key file in PEM (RFC 7468) with one `PUBLIC KEY`. A file with a private key is
  /// rejected, because verification requires only the public key.
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

  /// Decodes a `SubjectPublicKeyInfo` (RFC 5280, 4.1).
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

  /// Returns the text with lines of 64 characters, as the parser requires (RFC 7468, 2); nrfutil
  /// writes lines of 76 characters.
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

/// The reason why a file does not contain a key that can verify signatures.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum VerificationKeyFault: Error, Equatable, Sendable {
  /// The file is longer than any key file.
  case tooLarge(limit: Int)
  /// The file contains no PEM block.
  case notPEM
  /// The file contains a private key.
  case privateKey
  /// The file contains several keys.
  case severalKeys(Int)
  /// The PEM block is of another kind; the value is its label.
  case notAPublicKey(String)
  /// The block does not contain a valid public key.
  case malformed
  /// The key has an algorithm that no supported bootloader uses; the algorithm is stated by its
  /// object identifier.
  case unknownAlgorithm(String)
  /// The RSA key has a size that no supported bootloader uses.
  case unusedRSASize(bits: Int)
}

extension VerificationKeyFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tooLarge(let limit): "the key file is larger than \(limit) bytes"
    case .notPEM: "no PEM file with '-----BEGIN PUBLIC KEY-----'"
    case .privateKey: "it contains a private key; only the public key is needed"
    case .severalKeys(let count): "it contains \(count) keys; exactly one is required"
    case .notAPublicKey(let label): "it contains a '\(label)', not a 'PUBLIC KEY'"
    case .malformed: "the public key in it is damaged"
    case .unknownAlgorithm(let identifier): "algorithm \(identifier) is not supported"
    case .unusedRSASize(let bits): "RSA keys must have 2048 or 3072 bits; this key has \(bits)"
    }
  }
}
