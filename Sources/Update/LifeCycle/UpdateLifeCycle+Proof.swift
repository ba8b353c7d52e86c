import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// The verification after activation.
extension UpdateLifeCycle {
  /// The time between two attempts to connect to a restarting device.
  private static let rebootPoll = Duration.milliseconds(250)

  /// The time in which a bootloader may store an accepted image before it restarts; an nRF52 needs
  /// a quarter of a second for two pages. A restart after a longer silence may mean that the
  /// inactivity timer expired, and that the bootloader restarted without accepting the image.
  private var storeLimit: Duration { context.options.rebootLimit / 20 }

  /// Waits for the restart, and reads the running image. The update succeeds only if this image is
  /// the new image.
  ///
  /// - Parameters:
  ///   - startTime: the time in addition to `rebootLimit` for the restart.
  ///   - silentLimit: the time after which a device that does not advertise counts as restarted.
  ///   - before: the version that ran before the update; `nil` if the device did not report it.
  ///   - isTaken: becomes `false` if the device did not end the link for its restart, or ended it
  ///     so late that its inactivity timer may have expired.
  func prove(
    _ search: inout LocationSearch, _ startTime: Duration, silentAfter silentLimit: Duration?,
    before: FirmwareVersion?, isTaken: inout Bool
  ) async throws(UpdateFault) -> RunningImage {
    var looking = search
    var isLetGo = true
    defer {
      search = looking
      if !isLetGo { isTaken = false }
    }
    let running = try await within(.reconnect) { () async throws(UpdateFault) -> RunningImage in
      let activated = context.clock.now
      isLetGo = await turn.waitUntilLost(within: context.options.rebootLimit / 6)
      if activated.duration(to: context.clock.now) > storeLimit { isLetGo = false }
      turn.disconnect()
      let limit = silentLimit ?? context.options.rebootLimit + startTime
      let deadline = context.clock.now.advanced(by: limit)
      let running: RunningImage
      do throws(UpdateFault) {
        running = try await readAfterRestart(&looking, before: deadline)
      } catch {
        guard case .unreachableAfterActivation = error, silentLimit != nil else { throw error }
        return RunningImage(version: nil, agreement: .restarted)
      }
      // After an accidental loss, the host may reconnect before the restart. A bootloader that is
      // still storing the image then also ends this new link.
      guard running.isInBootloader, await turn.waitUntilLost(within: storeLimit) else {
        return running
      }
      turn.disconnect()
      return try await readAfterRestart(&looking, before: deadline)
    }
    guard running.agreement == .different else { return running }
    if running.outcome == .rejected {
      throw .reverted(running: running.version, build: running.build)
    }
    if let version = running.version, images.contains(where: { $0.version == version }) {
      throw .differentImageRuns(running: version)
    }
    guard let version = running.version else { throw .nothingStarted }
    guard version == before else {
      throw .otherVersionRuns(running: version, expected: images[images.count - 1].version)
    }
    throw .oldVersionStillRuns(running: version)
  }

  private func readAfterRestart(
    _ search: inout LocationSearch, before deadline: LinkInstant
  ) async throws(UpdateFault) -> RunningImage {
    var loss = LinkLoss.supervisionTimeout
    var attempt = 0
    while context.clock.now < deadline {
      attempt += 1
      do throws(UpdateFault) {
        return try await readOnce(
          attempt, at: search.place(afterConnecting: true), before: deadline)
      } catch {
        let fault = addingTransferState(error, .reconnect)
        guard let found = fault.linkLoss(afterConnecting: true) else { throw fault }
        loss = found
        if case .couldNotConnect(.deviceNotFound) = fault { _ = search.moveOn() }
      }
      turn.disconnect()
      guard await context.clock.pause(for: Self.rebootPoll) else {
        throw context.tally.cancelled
      }
    }
    throw .unreachableAfterActivation(loss)
  }

  private func readOnce(
    _ attempt: Int, at place: DeviceLocation, before deadline: LinkInstant
  ) async throws(UpdateFault) -> RunningImage {
    try await withDeadline(
      deadline, on: context.clock, orThrow: .unreachableAfterActivation(.supervisionTimeout)
    ) { () async throws(UpdateFault) -> RunningImage in
      let session = try await openSession(attempt: attempt, at: place)
      try checkBoard(of: session)
      var stage = UpdateStage.reconnect
      try await authorize(session, stage: &stage)
      let running = try await running(on: session)
      return running.agreement == .different
        ? running : try await confirmIfOnTrial(running, session)
    }
  }

  /// Checks that the device has the same hardware id as before the restart, or the hardware id of
  /// the image.
  private func checkBoard(of session: any UpdateSession) throws(UpdateFault) {
    guard let before = context.tally.now.hardware, let now = session.device.hardware,
      now != before, !images.contains(where: { $0.hardware == now })
    else { return }
    throw .protocolViolation(
      .reconnect, "its hardware is \(now), but it was \(before) before the restart")
  }

  /// Returns the state of the running images, with the weakest verification grade among them.
  func running(on session: any UpdateSession) async throws(UpdateFault) -> RunningImage {
    var all: [RunningImage] = []
    for image in images { all.append(try await session.running(expecting: image)) }
    let weakest = all.map(\.agreement).max()
    let reported = all.first { $0.agreement == weakest } ?? all[0]
    var running = RunningImage(
      version: reported.version, agreement: reported.agreement, outcome: reported.outcome,
      isOnTrial: all.contains(where: \.isOnTrial),
      validation: all.lazy.compactMap(\.validation).first)
    running.build = reported.build
    return running
  }

  func confirmIfOnTrial(
    _ running: RunningImage, _ session: any UpdateSession
  ) async throws(UpdateFault) -> RunningImage {
    guard running.isOnTrial else { return running }
    return try await within(.confirm) { () async throws(UpdateFault) -> RunningImage in
      for image in images where try await session.running(expecting: image).isOnTrial {
        try await session.confirm(image)
      }
      let confirmed = try await self.running(on: session)
      guard !confirmed.isOnTrial else {
        throw .protocolViolation(.confirm, "it confirmed the image, but still reports a trial")
      }
      return confirmed
    }
  }
}

extension RunningImage {
  /// Whether a bootloader answered instead of an application.
  fileprivate var isInBootloader: Bool { agreement == .different && version == nil }
}
