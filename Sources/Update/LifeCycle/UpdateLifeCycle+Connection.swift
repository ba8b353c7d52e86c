import OtaflashATT
import OtaflashGATT

/// The connections of a life cycle: connecting, handling losses, waiting, and disconnecting.
extension UpdateLifeCycle {
  func openSession(
    attempt: Int, at place: DeviceLocation
  ) async throws(UpdateFault) -> any UpdateSession {
    if turn.whereabouts != place { turn.move(to: place) }
    context.observe(.connecting(attempt: attempt))
    return try await within(.connect) { () async throws(UpdateFault) -> any UpdateSession in
      let client = try await turn.connect(requestingMTU: context.options.mtu)
      context.observe(.connected(LinkReport(of: client)))
      var found = context
      // A new address is an address of the device itself.
      found.place = place == .homeOrNewAddress ? .home : place
      let session = try await chosenSession(on: client, found, at: place)
      context.tally.connected()
      context.tally.keepsProgress(session.keepsProgress)
      return session
    }
  }

  /// Opens a session of the protocol, which the first connection chooses.
  private func chosenSession(
    on client: GATTClient, _ context: UpdateContext, at place: DeviceLocation
  ) async throws(UpdateFault) -> any UpdateSession {
    if let settled = context.tally.chosen { return try await settled.open(on: client, context) }
    let offered = try await choice.offered(by: client)
    // The address of a possible firmware loader may belong to another device.
    if place == .flippedAddress, offered.isEmpty { throw .otherDevice }
    let candidates = try choice.choose(
      for: images, among: offered, asked: context.options.updateProtocol)
    let opened = try await candidates.open(on: client, context, for: images)
    context.tally.choose(opened.chosen, left: opened.reason)
    return opened.session
  }

  /// Restarts the device into its bootloader, waits for the disconnection of the device, at most a
  /// quarter of `rebootLimit`, and disconnects.
  func detach(_ session: any UpdateSession) async throws(UpdateFault) {
    try await within(.detach) { () async throws(UpdateFault) in
      try await session.detach()
      await turn.waitUntilLost(within: context.options.rebootLimit / 4)
      turn.disconnect()
    }
  }

  func backOff(
    _ loss: LinkLoss, _ attempt: Int, _ fault: UpdateFault
  ) async throws(UpdateFault) {
    turn.disconnect()
    let random = context.randomFraction()
    guard let delay = context.options.reconnection.delay(beforeAttempt: attempt, random: random)
    else { throw fault }
    let counts = context.tally.now
    if let reason = context.tally.takeRestart() {
      context.observe(.restarted(because: reason, attempt: attempt, retryIn: delay))
    } else {
      context.observe(
        .linkLost(
          reason: "\(loss)", acknowledged: counts.held, attempt: attempt, retryIn: delay))
    }
    guard await context.clock.pause(for: delay) else {
      throw context.tally.cancelled
    }
  }

  /// Adds the progress to a fault of the link or a cancellation. Returns other faults unchanged.
  func addingTransferState(_ fault: UpdateFault, _ stage: UpdateStage) -> UpdateFault {
    let counts = context.tally.now
    switch fault {
    case .gatt(_, .cancelled), .gatt(_, .linkLost(.cancelled)), .couldNotConnect(.cancelled),
      .linkLost(.cancelled, _, _, _), .cancelled:
      return context.tally.cancelled
    case .gatt(_, .linkLost(.keysRefused)), .gatt(_, .insecure(_, _, .bondForgotten)),
      .couldNotConnect(.lostWhileConnecting(.keysRefused)), .linkLost(.keysRefused, _, _, _):
      // An activated image is complete, so no transfer is left to resume.
      return .bondForgotten(
        isActivated: context.hasActivated, resumable: counts.isKept && !context.hasActivated,
        acknowledged: counts.held)
    case .gatt(let stage, .linkLost(let loss)):
      return .linkLost(
        loss, stage, resumable: counts.isKept, acknowledged: counts.held)
    case .gatt, .couldNotConnect, .linkLost, .bondForgotten, .wrongHardware, .doesNotFit,
      .downgrade, .olderBuild,
      .versionUnknown, .hardwareUnknown, .imageNotTaken, .protocolAmbiguous, .protocolNotOffered,
      .declined, .authorizationRequired, .wrongKey, .noUpdateService, .unsupportedProtocolVersion,
      .reverted, .oldVersionStillRuns, .differentImageRuns, .otherVersionRuns, .nothingStarted,
      .unreachableAfterActivation, .imageRejected, .blockKeepsFailing, .stalled, .noProgress,
      .protocolViolation, .timedOut, .undeliverable, .stoppedAfterActivation:
      return fault
    }
  }

  /// Disconnects, and returns the fault. If the caller stopped the update, the device is notified
  /// first, within a time limit, even if the task is cancelled.
  func notifyDeviceBeforeDisconnect(
    _ fault: UpdateFault, _ session: (any UpdateSession)?
  ) async -> UpdateFault {
    let clock = context.clock
    let limit = context.options.abortLimit
    if fault.isInterruption, let session {
      await shielded {
        do throws(UpdateFault) {
          let deadline = clock.now.advanced(by: limit)
          try await withDeadline(deadline, on: clock, orThrow: fault) {
            () async throws(UpdateFault) in try await session.abandon()
          }
        } catch {
          // Even if the device was not notified, it keeps its resume offset.
        }
      }
    }
    turn.disconnect()
    return fault
  }
}

extension UpdateFault {
  /// Another device answered at a location that only the device's bootloader may use.
  static let otherDevice = UpdateFault.couldNotConnect(
    .deviceNotFound(
      cause: "Another device answered at the bootloader's address.", remedy: .comeCloser))

  /// Whether the caller stopped the update.
  fileprivate var isInterruption: Bool {
    switch self {
    case .cancelled, .stoppedAfterActivation: true
    default: false
    }
  }

  /// ENODEV.
  private static let noSuchDevice: Int32 = 19

  /// Returns the loss that caused the fault, if a new connection may fix the fault; otherwise
  /// `nil`.
  ///
  /// - Parameter afterConnecting: whether the device was connected before, so that a device without
  ///   an answer counts as a loss.
  func linkLoss(afterConnecting: Bool) -> LinkLoss? {
    switch self {
    case .linkLost(let loss, _, _, _) where loss != .cancelled: loss
    case .couldNotConnect(.lostWhileConnecting(let loss)): loss
    case .gatt(_, .transactionTimedOut) where afterConnecting,
      .couldNotConnect(.deviceNotFound) where afterConnecting:
      .supervisionTimeout
    // An adapter is available again after a reset, or after the host was suspended.
    case .couldNotConnect(.adapterUnavailable(let cause, _)) where afterConnecting:
      .failed(errno: Self.noSuchDevice, reason: cause)
    case .linkLost, .couldNotConnect, .bondForgotten, .gatt, .wrongHardware, .doesNotFit,
      .downgrade, .olderBuild,
      .versionUnknown, .hardwareUnknown, .imageNotTaken, .protocolAmbiguous, .protocolNotOffered,
      .declined, .authorizationRequired, .wrongKey, .noUpdateService, .unsupportedProtocolVersion,
      .reverted, .oldVersionStillRuns, .differentImageRuns, .otherVersionRuns, .nothingStarted,
      .unreachableAfterActivation, .imageRejected, .blockKeepsFailing, .stalled, .noProgress,
      .protocolViolation, .cancelled, .timedOut, .undeliverable, .stoppedAfterActivation:
      nil
    }
  }
}
