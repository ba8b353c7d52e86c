import OtaflashUpdate

extension FaultReport {
  /// A control operation that the device refused (docs/ota-service.md, 4.1).
  init(_ refusal: DeviceRefusal, during stage: UpdateStage, in context: FaultContext) {
    let (code, why, exit) = Self.meaning(of: refusal)
    self.init(
      code, "the device refused during \(stage.rawValue): \(refusal.name)", why: why,
      help: context.inspectDevice, exit: exit)
  }

  private static func meaning(
    of refusal: DeviceRefusal
  ) -> (code: FaultCode, why: String, exit: ExitStatus) {
    switch refusal {
    case .unknownOpcode, .malformedRequest, .wrongState, .nothingToConfirm:
      (
        .deviceRefused, "Its firmware and this otaflash disagree about the protocol.",
        .protocolBroken
      )
    case .versionNotSupported:
      (.protocolVersion, "It speaks no protocol version that this otaflash knows.", .protocolBroken)
    case .notAuthorized:
      (.authorizationRequired, "It takes updates only after a proof of its key.", .permissionDenied)
    case .wrongProof:
      (
        .wrongKey, "After 5 wrong proofs it refuses every key until it is restarted.",
        .permissionDenied
      )
    case .locked:
      (.deviceLocked, "Too many wrong proofs were sent; restart the device.", .permissionDenied)
    case .wrongHardware:
      (
        .wrongHardware, "The image is for another board; nothing was written.",
        .refusedBeforeWriting
      )
    case .doesNotFit:
      (.doesNotFit, "Its slot has no room for the image.", .refusedBeforeWriting)
    case .downgrade:
      (.downgrade, "It runs a newer version than the image's.", .refusedBeforeWriting)
    case .checksumMismatch:
      (.imageRejected, "The image it read back from flash differs from ours.", .rejectedByDevice)
    case .flashFault:
      (
        .deviceFlashFault, "Its flash failed in spite of retries; it may be worn.",
        .rejectedByDevice
      )
    case .refusedByApplication:
      (.deviceRefused, "Its application does not want an update now.", .rejectedByDevice)
    }
  }
}

extension DeviceRefusal {
  /// The result's name in the specification.
  var name: String {
    switch self {
    case .unknownOpcode: "unknown opcode"
    case .malformedRequest: "malformed request"
    case .wrongState: "wrong state"
    case .notAuthorized: "not authorized"
    case .wrongHardware: "wrong hardware"
    case .doesNotFit: "does not fit the slot"
    case .downgrade: "downgrade"
    case .checksumMismatch: "CRC32 mismatch"
    case .flashFault: "flash fault"
    case .versionNotSupported: "version not supported"
    case .wrongProof: "proof wrong"
    case .locked: "locked"
    case .refusedByApplication: "refused by the application"
    case .nothingToConfirm: "nothing to confirm"
    }
  }
}
