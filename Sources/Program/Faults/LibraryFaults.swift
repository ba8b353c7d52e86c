import OtaflashATT
import OtaflashBlueZ
import OtaflashDevices
import OtaflashFirmware
import OtaflashGATT
import OtaflashState
import OtaflashUpdate

/// A fault of the libraries. The library defines the message and the remedy of the fault; this file
/// assigns the code.
protocol CodedFault: ExplainedFault {
  var verdict: FaultReport.Verdict { get }
}

extension FaultReport {
  /// The code of a fault, and the values that differ from the code's row.
  struct Verdict {
    let code: FaultCode
    let exit: ExitStatus?
    let retryable: Bool?
    /// The command that helps if the remedy is not a command.
    let help: KeyPath<FaultContext, String>
    let imageState: ImageState?

    init(
      _ code: FaultCode, exit: ExitStatus? = nil, retryable: Bool? = nil,
      help: KeyPath<FaultContext, String>? = nil, imageState: ImageState? = nil
    ) {
      self.code = code
      self.exit = exit
      self.retryable = retryable
      self.help = help ?? code.row.help
      self.imageState = imageState
    }
  }

  /// Describes a fault of the libraries: its own message, and its remedy as a command.
  init(_ fault: some CodedFault, in context: FaultContext) {
    let verdict = fault.verdict
    let words = [
      fault.explanation, fault.remedy?.words(for: context.program),
      verdict.code == .bug ? "Please report this error in otaflash with the output of -vvv." : nil,
    ]
    self.init(
      verdict.code, fault.summary, why: words.compactMap(\.self).joined(separator: " "),
      help: fault.remedy?.help(in: context) ?? context[keyPath: verdict.help], exit: verdict.exit,
      retryable: verdict.retryable)
    imageState = verdict.imageState
  }
}

// The switches are exhaustive, so that each new case needs a code.

extension UpdateFault: CodedFault {
  var verdict: FaultReport.Verdict {
    switch self {
    case .wrongHardware: .init(.wrongHardware)
    case .doesNotFit: .init(.doesNotFit)
    case .downgrade, .olderBuild: .init(.downgrade)
    case .versionUnknown: .init(.versionUnknown)
    case .hardwareUnknown: .init(.hardwareUnknown)
    case .imageNotTaken: .init(.imageNotTaken)
    case .protocolAmbiguous: .init(.protocolAmbiguous)
    case .protocolNotOffered, .noUpdateService: .init(.noUpdateService)
    case .undeliverable(let obstacle):
      .init(.noPatch, exit: obstacle.isVerdictOfDevice ? .rejectedByDevice : nil)
    case .authorizationRequired: .init(.authorizationRequired)
    case .wrongKey: .init(.wrongKey)
    case .unsupportedProtocolVersion: .init(.protocolVersion)
    case .reverted: .init(.reverted)
    case .oldVersionStillRuns, .nothingStarted: .init(.oldVersionRuns)
    case .differentImageRuns, .otherVersionRuns: .init(.differentImageRuns)
    case .unreachableAfterActivation:
      .init(.unreachableAfterActivation, imageState: .restartRequested)
    case .stoppedAfterActivation(.cancellation, _):
      .init(.interrupted, exit: .linkLostResumable, imageState: .restartRequested)
    case .stoppedAfterActivation(.timeLimit, _): .init(.timeLimit, imageState: .restartRequested)
    case .imageRejected: .init(.imageRejected, retryable: true)
    case .blockKeepsFailing: .init(.blockKeepsFailing)
    case .stalled: .init(.stalled)
    case .noProgress: .init(.noProgress)
    case .linkLost(_, _, let resumable, _):
      .init(.linkLost, exit: resumable ? .linkLostResumable : .linkLost)
    case .cancelled(let resumable, _):
      .init(.interrupted, exit: resumable ? .linkLostResumable : .linkLost)
    case .timedOut(_, let resumable, _):
      .init(.timeLimit, exit: resumable ? .linkLostResumable : .linkLost)
    case .bondForgotten: .init(.bondForgotten)
    case .declined(_, let refusal): refusal.kind.verdict
    case .couldNotConnect(let fault): fault.verdict
    case .gatt(_, let fault): fault.verdict
    case .protocolViolation: .init(.protocolViolation)
    }
  }
}

extension ProtocolRefusal.Kind {
  fileprivate var verdict: FaultReport.Verdict {
    switch self {
    case .unsuitable: .init(.deviceRefused, exit: .refusedBeforeWriting)
    case .wrongHardware: .init(.wrongHardware)
    case .doesNotFit: .init(.doesNotFit)
    case .downgrade: .init(.downgrade)
    case .rejected: .init(.imageRejected)
    case .flashFault: .init(.deviceFlashFault)
    case .unwilling: .init(.deviceRefused)
    case .forbidden: .init(.authorizationRequired)
    case .wrongKey: .init(.wrongKey)
    case .locked: .init(.deviceLocked)
    case .protocolBroken: .init(.deviceRefused, exit: .protocolBroken)
    case .versionNotSupported: .init(.protocolVersion)
    }
  }
}

extension ConnectFault: CodedFault {
  var verdict: FaultReport.Verdict {
    switch self {
    case .adapterUnavailable: .init(.noAdapter)
    case .deviceNotFound: .init(.deviceNotFound, help: \.again)
    case .busy: .init(.deviceBusy)
    case .permissionDenied: .init(.permission)
    case .systemCall: .init(.systemCall)
    case .lostWhileConnecting(.keysRefused): .init(.bondForgotten)
    case .lostWhileConnecting: .init(.linkLost)
    case .cancelled: .init(.interrupted)
    }
  }
}

extension MgmtFault: CodedFault {
  var verdict: FaultReport.Verdict {
    switch self {
    case .adapterUnavailable, .unsupported, .refused, .noAnswer: .init(.noAdapter)
    case .busy: .init(.noAdapter, retryable: true, help: \.again)
    case .permissionDenied: .init(.permission)
    case .malformed, .socket, .systemCall: .init(.systemCall)
    case .cancelled: .init(.interrupted)
    }
  }
}

extension SecurityFault: CodedFault {
  var verdict: FaultReport.Verdict {
    switch self {
    case .unsupported, .notPaired: .init(.notPaired)
    case .permissionDenied: .init(.permission)
    case .bondForgotten: .init(.bondForgotten)
    case .pairingFailed, .insufficient: .init(.pairingFailed)
    case .timedOut: .init(.pairingFailed, retryable: true)
    case .linkLost: .init(.linkLost)
    case .cancelled: .init(.interrupted)
    }
  }
}

extension GATTFault: CodedFault {
  var verdict: FaultReport.Verdict {
    switch self {
    // 0x83 is defined by the OTA service (docs/ota-service.md, 3).
    case .refused(_, let code) where code.wantsRight || code == ATTErrorCode(0x83):
      .init(.permission, help: \.inspectDevice)
    case .refused: .init(.deviceRefused, exit: .protocolBroken)
    case .insecure(_, _, let fault): fault.verdict
    case .violation, .notPermitted: .init(.protocolViolation)
    case .linkLost(.keysRefused): .init(.bondForgotten)
    case .transactionTimedOut, .linkLost: .init(.linkLost)
    case .cancelled: .init(.interrupted)
    case .timedOut: .init(.stalled, exit: .linkLost)
    case .notFound: .init(.noUpdateService, exit: .protocolBroken)
    // The caller used the client incorrectly, so the fault is an error in otaflash.
    case .queueFull, .unsubscribed, .mtuOutOfRange, .valueTooLong: .init(.bug)
    }
  }
}

extension StateFault: CodedFault {
  var verdict: FaultReport.Verdict {
    switch self {
    case .deviceBusy: .init(.deviceBusy)
    case .registryBusy: .init(.state, exit: .systemCall, retryable: true)
    case .noPlace, .notADirectory, .impossiblePlace, .notAFile, .tooLarge, .newerFormat:
      .init(.state)
    case .permissionDenied: .init(.state, exit: .permissionDenied)
    case .diskFull: .init(.state, exit: .outputFailed)
    case .system: .init(.state, exit: .systemCall)
    }
  }
}

extension ProofFault {
  var code: FaultCode {
    switch self {
    case .hashMissing, .hashDiffers: .image
    case .otherKey, .otherAlgorithm: .otherSigner
    case .unsigned, .signatureWrong, .encrypted, .uncovered, .notSignable: .signature
    }
  }
}
