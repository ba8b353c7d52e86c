import OtaflashGATT

extension OTARefusal {
  /// The refusal in the form that all protocols share.
  var inWords: ProtocolRefusal {
    ProtocolRefusal(meaning: name, advice: explanation, kind: kind, remedy: remedy)
  }

  /// The result's name in the specification (docs/ota-service.md, 4.1).
  package var name: String {
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
    case .otherBase: "other base"
    }
  }

  /// The reason for the refusal, or its meaning, as a complete sentence.
  private var explanation: String {
    switch self {
    case .unknownOpcode, .malformedRequest, .wrongState, .nothingToConfirm:
      "Its firmware and otaflash disagree about the protocol."
    case .versionNotSupported: "It supports no known protocol version."
    case .notAuthorized: "It requires its key for updates."
    case .wrongProof: "After 5 wrong proofs the device refuses every key until a restart."
    case .locked: "Too many wrong proofs were sent; restart the device."
    case .wrongHardware: "The image is for another board; nothing was written."
    case .doesNotFit: "Its slot has no room for the image."
    case .downgrade: "It runs a version newer than the version of the image."
    case .checksumMismatch: "The image read back from its flash differs from the sent image."
    case .flashFault: "Its flash failed despite retries; it may be worn."
    case .refusedByApplication: "Its application does not permit an update now."
    case .otherBase: "The patch is not for the running image."
    }
  }

  /// The correction.
  private var remedy: Remedy {
    switch self {
    case .unknownOpcode, .malformedRequest, .wrongState, .nothingToConfirm, .flashFault,
      .refusedByApplication, .locked:
      .inspectDevice
    case .versionNotSupported: .updateSoftware
    case .notAuthorized: .giveKey
    case .wrongProof: .checkKey
    case .wrongHardware, .doesNotFit: .chooseAnotherImage
    case .downgrade: .allowDowngrade
    case .checksumMismatch, .otherBase: .tryAgain
    }
  }

  private var kind: ProtocolRefusal.Kind {
    switch self {
    case .unknownOpcode, .malformedRequest, .wrongState, .nothingToConfirm: .protocolBroken
    case .versionNotSupported: .versionNotSupported
    case .notAuthorized: .forbidden
    case .wrongProof: .wrongKey
    case .locked: .locked
    case .wrongHardware: .wrongHardware
    case .doesNotFit: .doesNotFit
    case .downgrade: .downgrade
    case .checksumMismatch, .otherBase: .rejected
    case .flashFault: .flashFault
    case .refusedByApplication: .unwilling
    }
  }
}
