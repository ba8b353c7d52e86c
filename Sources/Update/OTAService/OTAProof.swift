import Crypto
import OtaflashFirmware
import OtaflashWire

/// The proof that the host knows the device's key (docs/ota-service.md, 4.2 CHALLENGE/AUTHORIZE).
package enum OTAProof {
  package static let challengeSize = 16
  package static let proofSize = 16
  private static let context = Array("otaflash authorize".utf8)

  /// Returns the first 16 bytes of HMAC-SHA-256(key, "otaflash authorize" | challenge | hardware
  /// id).
  package static func proof(
    key: [UInt8], challenge: [UInt8], hardware: HardwareID
  ) -> [UInt8] {
    let mac = HMAC<SHA256>.authenticationCode(
      for: message(challenge, hardware), using: SymmetricKey(data: key))
    return Array(Array(mac).prefix(proofSize))
  }

  /// Returns whether `proof` is correct; the comparison takes constant time.
  package static func isValid(
    _ proof: [UInt8], key: [UInt8], challenge: [UInt8], hardware: HardwareID
  ) -> Bool {
    let expected = self.proof(key: key, challenge: challenge, hardware: hardware)
    guard proof.count == expected.count else { return false }
    return zip(proof, expected).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private static func message(_ challenge: [UInt8], _ hardware: HardwareID) -> [UInt8] {
    var writer = ByteWriter()
    writer.bytes(context)
    writer.bytes(challenge)
    writer.uint32(hardware.rawValue)
    return writer.bytes
  }
}
