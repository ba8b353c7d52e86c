import Crypto

/// The result of an integrity check of an image, without a key.
public enum ImageIntegrity: Equatable, Sendable {
  /// The image matches the hash or CRC that it contains; the value is the name of the algorithm.
  case whole(String)
  /// The image contains no hash.
  case notStated
  /// The hash covers the decrypted bytes, so it cannot be checked.
  case encrypted
}

extension FirmwareImage {
  /// The SHA-256 of `bytes`: 32 bytes.
  public var sha256: [UInt8] { Array(SHA256.hash(data: bytes)) }

  /// Compares the image with the hash in it or in its init packet.
  /// - Throws: `.hashMissing` if the image lacks a hash that its bootloader requires;
  ///   `.hashDiffers` if the hashes differ.
  public func checkIntegrity() throws(ProofFault) -> ImageIntegrity {
    switch content {
    case .plain, .microbit: .notStated
    case .mcuboot(let image, _): try image.checkIntegrity(of: bytes)
    case .nordic(let packet): try packet.checkIntegrity(of: bytes)
    // The hash was compared when the image was decoded.
    case .esp(let image): image.hasHash ? .whole("SHA-256") : .notStated
    // The CRC32 was compared when the file was decoded.
    case .gbl, .telink, .oad: .whole("CRC32")
    case .suota(let image): image.isEncrypted ? .encrypted : .whole("CRC32")
    }
  }

  /// Whether the image is marked as encrypted although its body is not: its hash matches without
  /// decryption.
  public var isInTheClear: Bool {
    guard case .mcuboot(let image, _) = content, image.isEncrypted else { return false }
    do throws(ProofFault) {
      return try image.checkIntegrity(of: bytes) != .encrypted
    } catch {
      return false
    }
  }

  /// Checks the hash, and that the owner of this key signed all bytes that the device will run. An
  /// image without a signature never passes this check.
  public func checkSignature(by key: VerificationKey) throws(ProofFault) {
    _ = try checkIntegrity()
    switch content {
    case .plain, .esp, .telink, .suota, .oad, .microbit: throw .notSignable
    case .mcuboot(let image, _): try image.checkSignature(by: key, of: bytes)
    case .nordic(let packet): try packet.checkSignature(by: key)
    case .gbl(let file): try file.checkSignature(by: key, of: bytes)
    }
  }
}

extension FirmwarePackage {
  /// Checks every part.
  /// - Throws: the fault of the first part that fails.
  public func checkIntegrity() throws(PartFault) {
    for part in parts {
      do throws(ProofFault) { _ = try part.checkIntegrity() } catch {
        throw PartFault(part: part.name, fault: error)
      }
    }
  }

  /// Checks the hash and the signature of every part.
  /// - Throws: the fault of the first part that fails.
  public func checkSignatures(by key: VerificationKey) throws(PartFault) {
    for part in parts {
      do throws(ProofFault) { try part.checkSignature(by: key) } catch {
        throw PartFault(part: part.name, fault: error)
      }
    }
  }
}
