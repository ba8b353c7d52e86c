import OtaflashGATT

extension UpdateFault {
  /// The party responsible for a fault, for a caller that retries updates or stops the updates of a
  /// fleet.
  public enum Party: String, Sendable, CaseIterable {
    /// The device, its bootloader, or its flash.
    case device
    /// The radio link, or the distance.
    case link
    /// The host: its adapter, its permissions, this software.
    case host
    /// The operator of the update: the image, the key, the options, or a cancellation.
    case user
  }

  /// The responsible party, as far as it is known.
  public var party: Party {
    switch self {
    case .wrongHardware, .doesNotFit, .downgrade, .olderBuild, .versionUnknown, .hardwareUnknown,
      .imageNotTaken, .protocolAmbiguous, .protocolNotOffered, .authorizationRequired, .wrongKey,
      .noUpdateService, .bondForgotten, .cancelled, .timedOut, .stoppedAfterActivation:
      .user
    case .undeliverable(let obstacle): obstacle.isVerdictOfDevice ? .device : .user
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
