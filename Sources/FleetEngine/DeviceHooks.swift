import OtaflashFirmware
import OtaflashFleet

/// The hooks before and after an attempt on a device.
struct DeviceHooks: Sendable {
  let claim: JobClaim
  let campaign: Campaign
  /// The facts of the device and its wave.
  let facts: HookFacts
  let exchange: any JobExchange
  let runner: (any HookRunner)?

  /// Runs the hook before the device.
  ///
  /// - Returns: the outcome of an attempt that ends without an update; `nil` = the attempt
  ///   continues.
  /// - Throws: an error of the exchange; the attempt must not continue.
  func before() async throws(ExchangeFault) -> AttemptEnding? {
    guard let command = campaign.hooks[.beforeDevice] else { return nil }
    let outcome = await runner.run(command, at: .beforeDevice, of: campaign, facts)
    if Task.isCancelled { return .returned(.stopping) }
    try await report(outcome, at: .beforeDevice)
    let words = "the hook before the device \(outcome.words)"
    switch outcome.end {
    case .exited(0): return nil
    case .interrupted: return .returned(.stopping)
    // A hook that did not run says nothing about the device.
    case .notRun:
      return .failed(
        AttemptFailure(.infrastructure, code: "hook-not-run", words: words, wasSeen: false))
    case .exited, .killed, .timedOut:
      switch campaign.hooks.onFailure {
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
    guard let command = campaign.hooks[.afterDevice], !Task.isCancelled else { return ending }
    var facts = facts
    facts.add(ending)
    let outcome = await runner.run(command, at: .afterDevice, of: campaign, facts)
    if Task.isCancelled { return ending }
    try await report(outcome, at: .afterDevice)
    switch ending {
    case .updated, .current:
      guard !outcome.isSuccess, campaign.hooks.afterFailure == .fail else { return ending }
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
  /// Creates the facts of a device for a hook.
  init(_ job: UpdateJob, of campaign: Campaign, in run: FleetRun) {
    let device = run[job.id.device]
    self.init(campaign, run: run, wave: device?.wave ?? 0)
    set("DEVICE", job.id.device)
    set("DEVICE_NAME", device?.device.name)
    set("BOARD", device?.device.board)
    set("SITE", device?.device.site)
    set("TAGS", device?.device.tags?.joined(separator: " "))
    set("ATTEMPT", "\(job.id.attempt)")
    set("IMAGE", device?.device.board.flatMap { campaign.images[$0] } ?? campaign.images[nil])
    set("IMAGE_DIGEST", job.image)
    set("IMAGE_SHA256", run.beginning?.images?.first { $0.digest == job.image }?.sha256)
  }

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
