import OtaflashGATT

extension UpdateFault {
  /// At whose door a fault lies: for who repeats an update that failed, or stops those of a fleet.
  public enum Party: String, Sendable, CaseIterable {
    /// The device, its bootloader, or its flash.
    case device
    /// The air between, or how far it is.
    case link
    /// This machine: its adapter, its permissions, this software.
    case host
    /// Whoever runs the update: the image, the key, the options, or the wish to stop.
    case user
  }

  /// The party at fault, as far as can be known.
  public var party: Party {
    switch self {
    case .wrongHardware, .doesNotFit, .downgrade, .olderBuild, .versionUnknown, .hardwareUnknown,
      .imageNotTaken, .protocolAmbiguous, .protocolNotOffered, .authorizationRequired, .wrongKey,
      .noUpdateService, .bondForgotten, .cancelled, .timedOut, .stoppedAfterActivation:
      .user
    case .noPatch(let obstacle): obstacle.isVerdictOfDevice ? .device : .user
    case .unsupportedProtocolVersion: .host
    case .declined(_, let refusal): refusal.kind.party
    case .reverted, .oldVersionStillRuns, .differentImageRuns, .otherVersionRuns, .nothingStarted,
      .imageRejected, .blockKeepsFailing, .stalled, .noProgress, .protocolViolation:
      .device
    case .unreachableAfterActivation, .linkLost: .link
    case .couldNotConnect(let fault): fault.party
    case .gatt(_, let fault): fault.party
    }
  }
}

extension ProtocolRefusal.Kind {
  fileprivate var party: UpdateFault.Party {
    switch self {
    case .unsuitable, .wrongHardware, .doesNotFit, .downgrade, .forbidden, .wrongKey, .locked: .user
    case .rejected, .flashFault, .unwilling, .protocolBroken: .device
    case .versionNotSupported: .host
    }
  }
}

extension ConnectFault {
  fileprivate var party: UpdateFault.Party {
    switch self {
    case .adapterUnavailable, .permissionDenied, .systemCall, .busy: .host
    case .deviceNotFound, .lostWhileConnecting: .link
    case .cancelled: .user
    }
  }
}

extension GATTFault {
  fileprivate var party: UpdateFault.Party {
    switch self {
    case .refused, .violation, .transactionTimedOut, .notFound, .notPermitted, .timedOut: .device
    case .linkLost: .link
    case .insecure, .cancelled: .user
    case .queueFull, .mtuOutOfRange, .unsubscribed, .valueTooLong: .host
    }
  }
}
