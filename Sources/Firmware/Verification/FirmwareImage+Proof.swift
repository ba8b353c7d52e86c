import Crypto

/// What was found out about an image from the image alone.
public enum ImageIntegrity: Equatable, Sendable {
  /// The hash that it carries holds; the name of its algorithm.
  case whole(String)
  /// It carries nothing that could be compared.
  case notStated
  /// What it carries covers its decrypted bytes.
  case encrypted
}

extension FirmwareImage {
  /// SHA-256 of the whole of `bytes`, 32 bytes.
  public var sha256: [UInt8] { Array(SHA256.hash(data: bytes)) }

  /// Compares the image with the hash that it, or its init packet, carries.
  /// - Throws: `.hashMissing` where a bootloader wants one, `.hashDiffers`.
  public func checkIntegrity() throws(ProofFault) -> ImageIntegrity {
    switch content {
    case .plain: .notStated
    case .mcuboot(let image, _): try image.checkIntegrity(of: bytes)
    case .nordic(let packet): try packet.checkIntegrity(of: bytes)
    }
  }

  /// Whether the image is marked as encrypted while its body is not: its hash holds as it is.
  public var isInTheClear: Bool {
    guard case .mcuboot(let image, _) = content, image.isEncrypted else { return false }
    do throws(ProofFault) {
      return try image.checkIntegrity(of: bytes) != .encrypted
    } catch {
      return false
    }
  }

  /// Checks the hash, and that the signature is by the owner of this key over everything that the
  /// device will run. An image without a signature never passes.
  public func checkSignature(by key: VerificationKey) throws(ProofFault) {
    _ = try checkIntegrity()
    switch content {
    case .plain: throw .notSignable
    case .mcuboot(let image, _): try image.checkSignature(by: key, of: bytes)
    case .nordic(let packet): try packet.checkSignature(by: key)
    }
  }
}

extension FirmwarePackage {
  /// Checks every part.
  /// - Throws: the fault of the first that does not hold.
  public func checkIntegrity() throws(PartFault) {
    for part in parts {
      do throws(ProofFault) { _ = try part.checkIntegrity() } catch {
        throw PartFault(part: part.name, fault: error)
      }
    }
  }

  /// Checks the hash and the signature of every part.
  /// - Throws: the fault of the first that does not hold.
  public func checkSignatures(by key: VerificationKey) throws(PartFault) {
    for part in parts {
      do throws(ProofFault) { try part.checkSignature(by: key) } catch {
        throw PartFault(part: part.name, fault: error)
      }
    }
  }
}
