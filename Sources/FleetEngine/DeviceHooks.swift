import OtaflashFirmware
import OtaflashFleet

/// The hooks before and after an attempt on a device.
struct DeviceHooks: Sendable {
  let claim: JobClaim
  let hooks: CampaignHooks
  let exchange: any JobExchange
  let runner: (any HookRunner)?

  /// Runs the hook before the device.
  ///
  /// - Returns: the outcome of an attempt that ends without an update; `nil` = the attempt
  ///   continues.
  /// - Throws: an error of the exchange; the attempt must not continue.
  func before() async throws(ExchangeFault) -> AttemptEnding? {
    guard let command = hooks[.beforeDevice] else { return nil }
    let outcome = await runner.run(
      command, at: .beforeDevice, of: hooks, HookFacts(claim.job.order))
    if Task.isCancelled { return .returned(.stopping) }
    try await report(outcome, at: .beforeDevice)
    let words = "the hook before the device \(outcome.words)"
    switch outcome.end {
    case .exited(0): return nil
    case .interrupted: return .returned(.stopping)
    // A hook that did not run is a failure of the host, not of the device.
    case .notRun:
      return .failed(
        AttemptFailure(.infrastructure, code: "hook-not-run", words: words, wasSeen: false))
    case .exited, .killed, .timedOut:
      switch hooks.onFailure {
      case .skip: return .skipped(words: words)
      case .fail:
        return .failed(
          AttemptFailure(
            .device, code: "before-device-hook", words: words, isFinal: true, wasSeen: false))
      }
    }
  }

  /// Runs the hook after the device, if the attempt was not interrupted.
  ///
  /// - Returns: the outcome of the attempt, including the hook.
  func after(_ ending: AttemptEnding) async throws(ExchangeFault) -> AttemptEnding {
    guard let command = hooks[.afterDevice], !Task.isCancelled else { return ending }
    var facts = HookFacts(claim.job.order)
    facts.add(ending)
    let outcome = await runner.run(command, at: .afterDevice, of: hooks, facts)
    if Task.isCancelled { return ending }
    try await report(outcome, at: .afterDevice)
    switch ending {
    case .updated, .current:
      guard !outcome.isSuccess, hooks.afterFailure == .fail else { return ending }
      return .failed(
        AttemptFailure(
          .device, code: "after-device-hook",
          words: "the hook after the device \(outcome.words)", isFinal: true))
    case .failed, .skipped, .returned: return ending
    }
  }

  private func report(
    _ outcome: HookOutcome, at point: HookPoint
  ) async throws(ExchangeFault) {
    let id = claim.job.id
    try await exchange.report(
      claim,
      .deviceHookEnded(device: id.device, attempt: id.attempt, point: point, outcome: outcome))
  }
}

extension HookFacts {
  mutating func add(_ ending: AttemptEnding) {
    switch ending {
    case .updated(let figures):
      set("OUTCOME", "updated")
      set("FROM", figures.from?.description)
      set("TO", figures.to?.description)
    case .current(let version):
      set("OUTCOME", "current")
      set("FROM", version?.description)
      set("TO", version?.description)
    case .failed(let failure):
      set("OUTCOME", "failed")
      set("REASON", failure.words)
      set("CODE", failure.code)
    case .skipped(let words):
      set("OUTCOME", "skipped")
      set("REASON", words)
    case .returned(let reason):
      set("OUTCOME", "returned")
      set("REASON", reason.words)
      set("CODE", reason.rawValue)
    }
  }
}
