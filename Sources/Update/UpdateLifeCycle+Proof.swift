import OtaflashATT
import OtaflashGATT

/// What comes after activation: the truth.
extension UpdateLifeCycle {
  /// Between two looks for a device that is restarting.
  private static var rebootPoll: Duration { .milliseconds(250) }

  /// Waits for the restart and reads what runs: only that is success.
  func prove() async throws(UpdateFault) -> RunningImage {
    let running = try await within(.reconnect) { () async throws(UpdateFault) -> RunningImage in
      await turn.waitUntilLost(within: context.options.rebootLimit / 4)
      turn.disconnect()
      return try await readAfterRestart()
    }
    guard running.isImage(image) else {
      if running.outcome == .rejected { throw .reverted(running: running.version) }
      if running.version == image.version { throw .differentImageRuns(running: running.version) }
      throw .oldVersionStillRuns(running: running.version)
    }
    return running
  }

  private func readAfterRestart() async throws(UpdateFault) -> RunningImage {
    let deadline = context.clock.now.advanced(by: context.options.rebootLimit)
    var loss = LinkLoss.supervisionTimeout
    var attempt = 0
    while context.clock.now < deadline {
      attempt += 1
      do throws(UpdateFault) {
        return try await readOnce(attempt, before: deadline)
      } catch {
        let fault = attributed(error, .reconnect)
        guard let found = fault.linkLoss(afterConnecting: true) else { throw fault }
        loss = found
      }
      turn.disconnect()
      guard await context.clock.pause(for: Self.rebootPoll) else {
        throw .cancelled(resumable: false, acknowledged: image.bytes.count)
      }
    }
    throw .unreachableAfterActivation(loss)
  }

  private func readOnce(
    _ attempt: Int, before deadline: LinkInstant
  ) async throws(UpdateFault) -> RunningImage {
    try await withDeadline(
      deadline, on: context.clock, orThrow: .unreachableAfterActivation(.supervisionTimeout)
    ) { () async throws(UpdateFault) -> RunningImage in
      let session = try await openSession(attempt: attempt)
      var stage = UpdateStage.reconnect
      try await authorize(session, stage: &stage)
      let running = try await session.running()
      return running.isImage(image) ? try await confirmIfOnTrial(running, session) : running
    }
  }

  func confirmIfOnTrial(
    _ running: RunningImage, _ session: Session
  ) async throws(UpdateFault) -> RunningImage {
    guard running.onTrial else { return running }
    return try await within(.confirm) { () async throws(UpdateFault) -> RunningImage in
      try await session.confirm()
      let confirmed = try await session.running()
      guard !confirmed.onTrial else {
        throw .protocolViolation(.confirm, "it confirmed the image and still has it on trial")
      }
      return confirmed
    }
  }
}
