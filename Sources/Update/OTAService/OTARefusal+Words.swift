import OtaflashGATT

extension OTARefusal {
  /// The refusal as every protocol tells one.
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

  /// Why, or what it means: a whole sentence.
  private var explanation: String {
    switch self {
    case .unknownOpcode, .malformedRequest, .wrongState, .nothingToConfirm:
      "Its firmware and this software disagree about the protocol."
    case .versionNotSupported: "It speaks no protocol version that is known here."
    case .notAuthorized: "It takes updates only after a proof of its key."
    case .wrongProof: "After 5 wrong proofs it refuses every key until it is restarted."
    case .locked: "Too many wrong proofs were sent; restart the device."
    case .wrongHardware: "The image is for another board; nothing was written."
    case .doesNotFit: "Its slot has no room for the image."
    case .downgrade: "It runs a newer version than the image's."
    case .checksumMismatch: "The image it read back from flash differs from ours."
    case .flashFault: "Its flash failed in spite of retries; it may be worn."
    case .refusedByApplication: "Its application does not want an update now."
    case .otherBase: "The patch was made for another image than the one that it runs."
    }
  }

  /// What can be done about it.
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
