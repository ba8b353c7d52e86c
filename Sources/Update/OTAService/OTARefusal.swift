/// A device's refusal of a control operation (docs/ota-service.md, 4.1).
package enum OTARefusal: UInt8, Sendable, CaseIterable {
  /// The device does not support the operation.
  case unknownOpcode = 1
  /// The request has the wrong length for its operation, unknown flags, or a value that the
  /// operation does not permit.
  case malformedRequest = 2
  /// The operation is not permitted in the current state of the device (docs/ota-service.md, 3).
  case wrongState = 3
  /// The device has a key, and this connection is not authorized.
  case notAuthorized = 4
  /// The image is for another board.
  case wrongHardware = 5
  /// The image is larger than the slot, or has no bytes.
  case doesNotFit = 6
  /// The image is older than the running image, and BEGIN did not permit a downgrade.
  case downgrade = 7
  /// The CRC32 of the slot's content differs from the CRC32 of the image.
  case checksumMismatch = 8
  /// The flash failed despite all retries; the session has ended.
  case flashFault = 9
  /// The device supports no protocol version of the host.
  case versionNotSupported = 0x0A
  /// The proof does not match the challenge, because the host used another key.
  case wrongProof = 0x0B
  /// The device received too many wrong proofs, and is locked until a reset.
  case locked = 0x0C
  /// The device's application does not permit an update now.
  case refusedByApplication = 0x0D
  /// The running image is not on trial.
  case nothingToConfirm = 0x0E
  /// The base of the patch is not the running image. The payload is an `OTABase`.
  case otherBase = 0x0F
}

extension ProtocolRefusal {
  /// Creates a refusal of the OTA service.
  package static func otaService(_ refusal: OTARefusal) -> ProtocolRefusal { refusal.inWords }
}
