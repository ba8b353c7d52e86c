import Crypto
import OtaflashFirmware
import Testing

/// Tests of the signature of a GBL file, which covers all bytes before its tag.
@Suite struct GBLSignatureTests {
  private static let key = P256.Signing.PrivateKey()

  private static func pem(_ key: P256.Signing.PrivateKey) throws -> VerificationKey {
    try VerificationKey(pem: Array(key.publicKey.pemRepresentation.utf8))
  }

  /// - Parameter certificate: the key that the certificate contains, and the key that signed it.
  private static func signed(
    by signer: P256.Signing.PrivateKey,
    certificate: (key: P256.Signing.PrivateKey, signer: P256.Signing.PrivateKey)? = nil
  ) throws -> [UInt8] {
    var sample = GBLSample(type: 0x100)
    sample.addApplication()
    sample.addProgram(Array(0..<100))
    if let certificate {
      let body =
        [1, 0, 0, 0] + Array(certificate.key.publicKey.rawRepresentation) + GBLSample.little(3)
      let signature = try certificate.signer.signature(for: body).rawRepresentation
      sample.add(0xF30B_0BF3, body + Array(signature))
    }
    let signature = try signer.signature(for: sample.bytes).rawRepresentation
    sample.add(0xF70A_0AF7, Array(signature))
    sample.end()
    return sample.bytes
  }

  private static func image(_ bytes: [UInt8]) throws -> FirmwareImage {
    try FirmwareImage.decode(name: "app.gbl", bytes: bytes)
  }

  @Test func theSignatureIsVerified() throws {
    try Self.image(Self.signed(by: Self.key)).checkSignature(by: Self.pem(Self.key))
  }

  @Test func anotherKeyIsRefused() throws {
    let image = try Self.image(Self.signed(by: Self.key))
    #expect(throws: ProofFault.signatureWrong) {
      try image.checkSignature(by: Self.pem(P256.Signing.PrivateKey()))
    }
  }

  /// A changed program with a corrected CRC32 does not pass.
  @Test func aChangedProgramIsRefused() throws {
    var bytes = try Self.signed(by: Self.key)
    bytes[70] ^= 1
    bytes.removeLast(12)
    var sample = GBLSample()
    sample.bytes = bytes
    sample.end()
    let image = try Self.image(sample.bytes)
    #expect(throws: ProofFault.signatureWrong) { try image.checkSignature(by: Self.pem(Self.key)) }
  }

  @Test func aFileWithoutSignatureIsRefused() throws {
    let image = try Self.image(GBLFileTests.smallest)
    #expect(throws: ProofFault.unsigned) { try image.checkSignature(by: Self.pem(Self.key)) }
  }

  @Test func aCertificateIsVerified() throws {
    let delegate = P256.Signing.PrivateKey()
    let good = try Self.signed(by: delegate, certificate: (delegate, Self.key))
    try Self.image(good).checkSignature(by: Self.pem(Self.key))
    let foreign = try Self.signed(by: delegate, certificate: (delegate, delegate))
    #expect(throws: ProofFault.signatureWrong) {
      try Self.image(foreign).checkSignature(by: Self.pem(Self.key))
    }
    let direct = try Self.signed(by: Self.key, certificate: (delegate, Self.key))
    #expect(throws: ProofFault.signatureWrong) {
      try Self.image(direct).checkSignature(by: Self.pem(Self.key))
    }
  }
}
