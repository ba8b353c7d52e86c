import OtaflashFirmware
import OtaflashUpdate
import Testing

@Suite struct OTAProofTests {
  private let key = [UInt8](0..<32)
  private let challenge = [UInt8](0..<16)
  private let hardware = HardwareID(0xA001)

  /// The vector of docs/ota-service.md, 11, recomputed with `openssl dgst -sha256 -mac HMAC` over
  /// the 38 bytes.
  private let proof: [UInt8] = [
    0xB8, 0x4A, 0x17, 0xFE, 0xBF, 0x50, 0x4C, 0x51, 0xA9, 0x6F, 0xD8, 0xE9, 0x50, 0x57, 0x31, 0x89,
  ]

  @Test func theProofMatchesTheDocument() throws {
    let bytes = try ServiceDocument.vector("AUTHORIZE, key = 32 bytes `00 01 … 1F`")
    #expect([0x05] + proof == bytes[0])
    #expect(OTAProof.proof(key: key, challenge: challenge, hardware: hardware) == proof)
  }

  @Test func onlyTheRightProofIsValid() {
    func isValid(_ proof: [UInt8]) -> Bool {
      OTAProof.isValid(proof, key: key, challenge: challenge, hardware: hardware)
    }
    #expect(isValid(proof))
    #expect(!isValid([]))
    #expect(!isValid(proof.dropLast()))
    #expect(!isValid(proof + [0]))
    for bit in 0..<128 {
      var wrong = proof
      wrong[bit / 8] ^= 1 << (bit % 8)
      #expect(!isValid(wrong), "bit \(bit)")
    }
  }

  @Test func theProofBelongsToKeyChallengeAndHardware() {
    var otherKey = key
    otherKey[31] ^= 1
    #expect(!OTAProof.isValid(proof, key: otherKey, challenge: challenge, hardware: hardware))
    #expect(!OTAProof.isValid(proof, key: key, challenge: challenge.reversed(), hardware: hardware))
    #expect(
      !OTAProof.isValid(proof, key: key, challenge: challenge, hardware: HardwareID(0xA002)))
  }
}
