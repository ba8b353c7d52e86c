import Crypto

extension NordicInitPacket {
  func checkIntegrity(of firmware: [UInt8]) throws(ProofFault) -> ImageIntegrity {
    switch command {
    case .secure(let packet):
      // Bootloaders accept only this hash.
      guard packet.hashAlgorithm == .sha256 else { throw .hashMissing }
      let stated = Array(packet.hash.reversed())
      return try Self.compare(stated, Array(SHA256.hash(data: firmware)), "SHA-256")
    case .legacy(let packet):
      switch packet.integrity {
      case .crc16(let stated):
        return try Self.compare(
          Self.bytes(stated), Self.bytes(CRC16.checksum(firmware)), "CRC16")
      case .sha256(let stated, _, _):
        return try Self.compare(stated, Array(SHA256.hash(data: firmware)), "SHA-256")
      }
    }
  }

  private static func bytes(_ crc: UInt16) -> [UInt8] { [UInt8(crc >> 8), UInt8(crc & 0xFF)] }

  private static func compare(
    _ stated: [UInt8], _ computed: [UInt8], _ name: String
  ) throws(ProofFault) -> ImageIntegrity {
    guard stated == computed else { throw .hashDiffers(stated: stated, computed: computed) }
    return .whole(name)
  }

  /// Checks that the key signed the init command, which contains the hash of the firmware.
  func checkSignature(by key: VerificationKey) throws(ProofFault) {
    switch command {
    case .secure(let packet): try packet.checkSignature(by: key)
    case .legacy(let packet): try packet.checkSignature(by: key, over: bytes)
    }
  }
}

extension SecureInitPacket {
  fileprivate func checkSignature(by key: VerificationKey) throws(ProofFault) {
    guard let signature else { throw .unsigned }
    let holds: Bool
    switch (signature.algorithm, key.material) {
    case (.ecdsaP256, .ecdsaP256(let key)):
      let r = Array(signature.bytes.prefix(32).reversed())
      let s = Array(signature.bytes.suffix(32).reversed())
      holds = key.holds(r + s, over: signedBytes)
    case (.ed25519, .ed25519(let key)):
      holds = key.isValidSignature(signature.bytes, for: signedBytes)
    case (.ecdsaP256, _): throw .otherAlgorithm(image: "ECDSA P-256 signature", key: key.algorithm)
    case (.ed25519, _): throw .otherAlgorithm(image: "Ed25519 signature", key: key.algorithm)
    }
    guard holds else { throw .signatureWrong }
  }
}

extension LegacyInitPacket {
  /// Checks that the key signed the packet. A packet with a CRC16 cannot be signed: a CRC16 does
  /// not authenticate.
  fileprivate func checkSignature(
    by key: VerificationKey, over packet: [UInt8]
  ) throws(ProofFault) {
    guard case .sha256(_, _, let signature) = integrity else { throw .notSignable }
    guard let signature else { throw .unsigned }
    guard case .ecdsaP256(let publicKey) = key.material else {
      throw .otherAlgorithm(image: "ECDSA P-256 signature", key: key.algorithm)
    }
    guard publicKey.holds(signature, over: packet.dropLast(Self.signatureSize)) else {
      throw .signatureWrong
    }
  }
}

extension P256.Signing.PublicKey {
  /// - Parameter signature: R and S, 32 bytes each; other lengths are never valid.
  fileprivate func holds(_ signature: [UInt8], over bytes: [UInt8]) -> Bool {
    do {
      return isValidSignature(
        try P256.Signing.ECDSASignature(rawRepresentation: signature),
        for: SHA256.hash(data: bytes))
    } catch {
      return false
    }
  }
}
