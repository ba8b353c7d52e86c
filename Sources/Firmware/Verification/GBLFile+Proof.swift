import Crypto

extension GBLFile {
  /// Checks that the key signed the file. With a certificate, the key signs the certificate, whose
  /// key signs the file. The signature covers all bytes before its tag (gecko_sdk,
  /// `btl_gbl_parser.c`).
  func checkSignature(by key: VerificationKey, of file: [UInt8]) throws(ProofFault) {
    guard let tag = tag(.signature) else { throw .unsigned }
    guard case .ecdsaP256(let root) = key.material else {
      throw .otherAlgorithm(image: "ECDSA P-256 signature", key: key.algorithm)
    }
    let signer = try signer(certifiedBy: root, in: file)
    guard signer.holdsGBL(file[tag.payload], over: file[..<tag.offset]) else {
      throw .signatureWrong
    }
  }

  /// The number of bytes of a certificate that its signature covers: version, key and version
  /// number.
  private static let certifiedBytes = 72
  private static let keyRange = 4..<68

  private func signer(
    certifiedBy root: P256.Signing.PublicKey, in file: [UInt8]
  ) throws(ProofFault) -> P256.Signing.PublicKey {
    guard let tag = tag(.certificate) else { return root }
    let certificate = Array(file[tag.payload])
    let certified = certificate[..<Self.certifiedBytes]
    guard root.holdsGBL(certificate[Self.certifiedBytes...], over: certified) else {
      throw .signatureWrong
    }
    do { return try P256.Signing.PublicKey(rawRepresentation: certificate[Self.keyRange]) } catch {
      throw .signatureWrong
    }
  }
}

extension P256.Signing.PublicKey {
  /// - Parameter signature: R and S, 32 bytes each; other lengths are never valid.
  fileprivate func holdsGBL(_ signature: ArraySlice<UInt8>, over bytes: ArraySlice<UInt8>) -> Bool {
    do {
      return isValidSignature(
        try P256.Signing.ECDSASignature(rawRepresentation: Array(signature)),
        for: SHA256.hash(data: bytes))
    } catch {
      return false
    }
  }
}
