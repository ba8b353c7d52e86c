import OtaflashFleet
import OtaflashGATT
import OtaflashUpdate

extension AttemptEnding {
  /// Creates the outcome of an attempt from the fault of its update.
  ///
  /// - Parameter interruption: the reason of a cancelled update.
  init(_ fault: UpdateFault, interruption: ReturnReason) {
    if let reason = fault.reason(interruption) {
      self = .returned(reason)
    } else {
      self = .failed(
        AttemptFailure(
          fault.kind, code: fault.code, words: fault.summary, isFinal: fault.isFinal))
    }
  }
}

extension UpdateFault {
  /// Returns the reason why the attempt is returned; `nil` = the attempt failed.
  fileprivate func reason(_ interruption: ReturnReason) -> ReturnReason? {
    switch self {
    case .cancelled, .stoppedAfterActivation(.cancellation, _): return interruption
    case .couldNotConnect(let fault):
      switch fault {
      case .busy: return .deviceBusy
      case .cancelled: return interruption
      case .adapterUnavailable: return .adapterLost
      case .deviceNotFound: return .notHeard
      case .lostWhileConnecting, .permissionDenied, .systemCall: return nil
      }
    case .wrongHardware, .doesNotFit, .downgrade, .olderBuild, .versionUnknown, .hardwareUnknown,
      .imageNotTaken, .protocolAmbiguous, .protocolNotOffered, .declined, .authorizationRequired,
      .wrongKey, .noUpdateService, .unsupportedProtocolVersion, .reverted, .oldVersionStillRuns,
      .differentImageRuns, .otherVersionRuns, .nothingStarted, .unreachableAfterActivation,
      .imageRejected, .blockKeepsFailing, .stalled, .noProgress, .linkLost, .protocolViolation,
      .bondForgotten, .gatt, .timedOut, .undeliverable, .stoppedAfterActivation(.timeLimit, _):
      return nil
    }
  }

  /// The origin of the fault. The switch is exhaustive, so that the compiler requires an origin for
  /// each new case.
  fileprivate var kind: FailureKind {
    switch self {
    case .linkLost, .timedOut, .stoppedAfterActivation: .link
    case .gatt(_, let fault):
      switch fault {
      case .linkLost, .transactionTimedOut, .timedOut, .cancelled: .link
      case .refused, .insecure, .violation, .notFound, .notPermitted: .device
      case .queueFull, .mtuOutOfRange, .unsubscribed, .valueTooLong: .infrastructure
      }
    case .couldNotConnect(let fault):
      switch fault {
      case .lostWhileConnecting, .deviceNotFound, .busy, .cancelled: .link
      case .permissionDenied, .systemCall, .adapterUnavailable: .infrastructure
      }
    case .wrongHardware, .doesNotFit, .downgrade, .olderBuild, .versionUnknown, .hardwareUnknown,
      .imageNotTaken, .protocolAmbiguous, .protocolNotOffered, .declined,
      .authorizationRequired, .wrongKey, .noUpdateService, .unsupportedProtocolVersion, .reverted,
      .oldVersionStillRuns, .differentImageRuns, .otherVersionRuns, .nothingStarted,
      .unreachableAfterActivation, .imageRejected, .blockKeepsFailing, .stalled, .noProgress,
      .protocolViolation, .bondForgotten, .undeliverable:
      .device
    case .cancelled: .infrastructure
    }
  }

  /// Whether a retry would fail in the same way, because the image, the device or the settings of
  /// the host would have to change first.
  fileprivate var isFinal: Bool {
    switch self {
    case .wrongHardware, .doesNotFit, .downgrade, .olderBuild, .versionUnknown, .hardwareUnknown,
      .imageNotTaken, .protocolAmbiguous, .protocolNotOffered, .noUpdateService,
      .unsupportedProtocolVersion, .authorizationRequired, .wrongKey, .bondForgotten,
      .undeliverable:
      true
    case .couldNotConnect(let fault):
      switch fault {
      case .permissionDenied: true
      case .adapterUnavailable, .deviceNotFound, .busy, .systemCall, .lostWhileConnecting,
        .cancelled:
        false
      }
    case .declined, .reverted, .oldVersionStillRuns, .differentImageRuns, .otherVersionRuns,
      .nothingStarted, .unreachableAfterActivation, .imageRejected, .blockKeepsFailing, .stalled,
      .noProgress, .linkLost, .protocolViolation, .gatt, .cancelled, .timedOut,
      .stoppedAfterActivation:
      false
    }
  }

  /// The code of the fault, independent of its figures.
  fileprivate var code: String {
    switch self {
    case .wrongHardware: "wrong-hardware"
    case .doesNotFit: "does-not-fit"
    case .downgrade, .olderBuild: "downgrade"
    case .versionUnknown: "version-unknown"
    case .hardwareUnknown: "hardware-unknown"
    case .imageNotTaken: "image-not-taken"
    case .protocolAmbiguous: "protocol-ambiguous"
    case .protocolNotOffered, .noUpdateService: "no-update-service"
    case .declined: "refused"
    case .undeliverable: "no-patch"
    case .authorizationRequired: "authorization-required"
    case .wrongKey: "wrong-key"
    case .unsupportedProtocolVersion: "protocol-version"
    case .reverted: AttemptFailure.revertedCode
    case .oldVersionStillRuns, .nothingStarted: "old-version-runs"
    case .differentImageRuns, .otherVersionRuns: "different-image-runs"
    case .unreachableAfterActivation: "unreachable-after-activation"
    case .imageRejected: "image-rejected"
    case .blockKeepsFailing: "block-keeps-failing"
    case .stalled: "stalled"
    case .noProgress: "no-progress"
    case .linkLost, .couldNotConnect: "link-lost"
    case .bondForgotten: "bond-forgotten"
    case .protocolViolation: "protocol-violation"
    case .gatt(_, let fault):
      switch fault {
      case .linkLost, .transactionTimedOut: "link-lost"
      case .timedOut, .cancelled, .refused, .insecure, .violation, .notFound, .notPermitted,
        .queueFull, .mtuOutOfRange, .unsubscribed, .valueTooLong:
        "attribute-refused"
      }
    case .cancelled: "cancelled"
    case .timedOut, .stoppedAfterActivation(.timeLimit, _): "attempt-limit"
    case .stoppedAfterActivation(.cancellation, _): "cancelled"
    }
  }
}
