import Crypto
import OtaflashFirmware

/// The device's part of AUTHORIZE (docs/ota-service.md, 4.2).
struct Authorization: Sendable {
  private static let label = Array("otaflash authorize".utf8)

  let key: [UInt8]
  let hardware: HardwareID

  /// Returns whether the proof matches the challenge; the comparison takes constant time.
  func accepts(
    proof: UnsafeBufferPointer<UInt8>, for challenge: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    let id = (0..<4).map { UInt8(truncatingIfNeeded: hardware.rawValue >> (8 * $0)) }
    let code = HMAC<SHA256>.authenticationCode(
      for: Self.label + challenge + id, using: SymmetricKey(data: key))
    let difference = zip(code.prefix(proof.count), proof).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
    return difference == 0
  }
}
