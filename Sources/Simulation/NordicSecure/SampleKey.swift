import Crypto

/// The key pair that signs packages for simulated Secure DFU bootloaders. The private key is not
/// secret: it is also stored in firmware-samples/nordic-dfu-sample.pem, for
/// `nrfutil pkg generate --key-file`.
package enum SampleKey {
  private static let bytes: [UInt8] = [
    0xC5, 0x7F, 0x45, 0x7A, 0x59, 0x20, 0x06, 0x31, 0x0C, 0x60, 0xEC, 0x2A,
    0x28, 0x92, 0x11, 0x39, 0x02, 0xA8, 0x10, 0x6F, 0x02, 0xB1, 0xA5, 0x7C,
    0x02, 0x87, 0xBB, 0x83, 0x0D, 0x0F, 0xB4, 0x91,
  ]

  private static var privateKey: P256.Signing.PrivateKey {
    do { return try P256.Signing.PrivateKey(rawRepresentation: bytes) } catch {
      preconditionFailure("the sample key is invalid: \(error)")
    }
  }

  /// X and Y of the public key, 64 bytes.
  package static var publicKey: [UInt8] { Array(privateKey.publicKey.rawRepresentation) }

  /// Returns the ECDSA signature of an init command: R and S, each least significant byte first, as
  /// nrfutil writes it.
  package static func signature(of initCommand: [UInt8]) -> [UInt8] {
    do {
      let signature = Array(try privateKey.signature(for: initCommand).rawRepresentation)
      return Array(signature[..<32].reversed()) + Array(signature[32...].reversed())
    } catch {
      preconditionFailure("the sample key does not sign: \(error)")
    }
  }
}
