/// A device's refusal of a control operation (docs/ota-service.md, 4.1).
package enum OTARefusal: UInt8, Sendable, CaseIterable {
  /// The device does not know the operation.
  case unknownOpcode = 1
  /// The request has another length than its operation, or flags that it does not know.
  case malformedRequest = 2
  /// The operation is not permitted in the state that the device is in (docs/ota-service.md, 3).
  case wrongState = 3
  /// The device has a key, and this connection has not proven that it knows it.
  case notAuthorized = 4
  /// The image is for another board.
  case wrongHardware = 5
  /// The image is larger than the slot, or has no bytes.
  case doesNotFit = 6
  /// The image is older than what runs, and BEGIN did not allow that.
  case downgrade = 7
  /// The CRC32 of what the slot holds is not the image's.
  case checksumMismatch = 8
  /// Flash did not do its part in spite of all retries; the session has ended.
  case flashFault = 9
  /// The device speaks no protocol version that the host does.
  case versionNotSupported = 0x0A
  /// The proof is not right for the challenge: another key.
  case wrongProof = 0x0B
  /// Too many wrong proofs; a reset of the device unlocks it.
  case locked = 0x0C
  /// The device's application does not want an update now.
  case refusedByApplication = 0x0D
  /// What runs is not on trial.
  case nothingToConfirm = 0x0E
  /// A patch is against another image than the one that runs. Its payload is an `OTABase`.
  case otherBase = 0x0F
}

extension ProtocolRefusal {
  /// A refusal of the OTA service.
  package static func otaService(_ refusal: OTARefusal) -> ProtocolRefusal { refusal.inWords }
}
