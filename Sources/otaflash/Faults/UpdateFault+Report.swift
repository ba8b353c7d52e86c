import OtaflashDevices
import OtaflashGATT
import OtaflashUpdate

extension FaultReport {
  /// Describes a failed update: the message of the library with a code of the command line.
  init(_ fault: UpdateFault, in context: FaultContext) {
    switch fault {
    case .couldNotConnect(let fault): self.init(fault, in: context)
    case .gatt(_, let cause): self.init(cause, of: fault, in: context)
    case .declined:
      self.init(fault, fault.verdict, help: context.inspectSubject, in: context)
    default:
      self.init(fault, fault.verdict, help: context.inspectDevice, in: context)
      if fault.leavesRestartUnconfirmed { imageState = .restartRequested }
    }
  }
}

extension UpdateFault {
  /// The code and exit status. The switch is exhaustive, so that each new case needs a code.
  fileprivate var verdict: FaultReport.Verdict {
    switch self {
    case .wrongHardware: .init(.wrongHardware, .refusedBeforeWriting)
    case .doesNotFit: .init(.doesNotFit, .refusedBeforeWriting)
    case .downgrade, .olderBuild: .init(.downgrade, .refusedBeforeWriting)
    case .versionUnknown: .init(.versionUnknown, .refusedBeforeWriting)
    case .hardwareUnknown: .init(.hardwareUnknown, .refusedBeforeWriting)
    case .imageNotTaken: .init(.imageNotTaken, .refusedBeforeWriting)
    case .protocolAmbiguous: .init(.protocolAmbiguous, .deviceUnavailable)
    case .protocolNotOffered, .noUpdateService: .init(.noUpdateService, .refusedBeforeWriting)
    case .undeliverable(let obstacle):
      .init(.noPatch, obstacle.isVerdictOfDevice ? .rejectedByDevice : .refusedBeforeWriting)
    case .authorizationRequired: .init(.authorizationRequired, .permissionDenied)
    case .wrongKey: .init(.wrongKey, .permissionDenied)
    case .unsupportedProtocolVersion: .init(.protocolVersion, .protocolBroken)
    case .reverted: .init(.reverted, .rejectedByDevice)
    case .oldVersionStillRuns, .nothingStarted: .init(.oldVersionRuns, .rejectedByDevice)
    case .differentImageRuns, .otherVersionRuns: .init(.differentImageRuns, .rejectedByDevice)
    case .unreachableAfterActivation:
      .init(.unreachableAfterActivation, .linkLostResumable, retryable: true)
    case .stoppedAfterActivation(let interruption, _):
      .init(interruption.code, .linkLostResumable, retryable: true)
    case .imageRejected: .init(.imageRejected, .rejectedByDevice, retryable: true)
    case .blockKeepsFailing: .init(.blockKeepsFailing, .rejectedByDevice)
    case .stalled: .init(.stalled, .linkLostResumable, retryable: true)
    case .noProgress: .init(.noProgress, .protocolBroken)
    case .linkLost(_, _, let resumable, _):
      .init(.linkLost, resumable ? .linkLostResumable : .linkLost, retryable: true)
    case .cancelled(let resumable, _):
      .init(.interrupted, resumable ? .linkLostResumable : .linkLost, retryable: true)
    case .timedOut(_, let resumable, _):
      .init(.timeLimit, resumable ? .linkLostResumable : .linkLost, retryable: true)
    case .bondForgotten: .init(.bondForgotten, .permissionDenied)
    case .declined(_, let refusal): refusal.kind.verdict
    case .couldNotConnect, .gatt: .init(.linkLost, .linkLost, retryable: true)
    case .protocolViolation: .init(.protocolViolation, .protocolBroken)
    }
  }
}

extension UpdateInterruption {
  fileprivate var code: FaultCode {
    switch self {
    case .cancellation: .interrupted
    case .timeLimit: .timeLimit
    }
  }
}

extension UpdateFault {
  /// Whether the restart into the new image was requested and its outcome is unknown.
  fileprivate var leavesRestartUnconfirmed: Bool {
    switch self {
    case .stoppedAfterActivation, .unreachableAfterActivation: true
    default: false
    }
  }
}

extension ProtocolRefusal.Kind {
  fileprivate var verdict: FaultReport.Verdict {
    switch self {
    case .unsuitable: .init(.deviceRefused, .refusedBeforeWriting)
    case .wrongHardware: .init(.wrongHardware, .refusedBeforeWriting)
    case .doesNotFit: .init(.doesNotFit, .refusedBeforeWriting)
    case .downgrade: .init(.downgrade, .refusedBeforeWriting)
    case .rejected: .init(.imageRejected, .rejectedByDevice)
    case .flashFault: .init(.deviceFlashFault, .rejectedByDevice)
    case .unwilling: .init(.deviceRefused, .rejectedByDevice)
    case .forbidden: .init(.authorizationRequired, .permissionDenied)
    case .wrongKey: .init(.wrongKey, .permissionDenied)
    case .locked: .init(.deviceLocked, .permissionDenied)
    case .protocolBroken: .init(.deviceRefused, .protocolBroken)
    case .versionNotSupported: .init(.protocolVersion, .protocolBroken)
    }
  }
}
