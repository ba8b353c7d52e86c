import OtaflashFleet
import Synchronization

extension HookRunner? {
  /// Runs a hook of the campaign, with its hook point in the environment.
  func run(
    _ command: HookCommand, at point: HookPoint, of hooks: CampaignHooks, _ facts: HookFacts
  ) async -> HookOutcome {
    guard let self else { return HookOutcome(.notRun(words: "hooks are not available")) }
    var facts = facts
    facts.set("POINT", point.rawValue)
    return await self.run(command, environment: facts.environment, timeLimit: hooks.timeLimit)
  }
}

/// A runner that executes the hooks of waves in order, while the coordinator continues.
final class WaveHookRunner: Sendable {
  struct Ended: Sendable {
    let wave: Int
    let point: HookPoint
    let outcome: HookOutcome
  }

  private struct Wanted: Sendable {
    let wave: Int
    let point: HookPoint
    let facts: HookFacts
  }

  private let campaign: Campaign
  private let runner: (any HookRunner)?
  private let wanted = AsyncStream.makeStream(of: Wanted.self)
  private let ended = Mutex<[Ended]>([])

  init(_ campaign: Campaign, runner: (any HookRunner)?) {
    self.campaign = campaign
    self.runner = runner
  }

  func ask(for point: HookPoint, of wave: Int, in run: FleetRun) {
    var facts = HookFacts(campaign, run: run, wave: wave)
    facts.set("DEVICES", "\(run.waves[wave].tally.size)")
    if point == .afterWave { facts.add(run.waves[wave]) }
    wanted.continuation.yield(Wanted(wave: wave, point: point, facts: facts))
  }

  /// Returns the hooks that ended since the last call.
  func takeEnded() -> [Ended] {
    ended.withLock { ended in
      defer { ended = [] }
      return ended
    }
  }

  /// Runs hooks until the task is cancelled, which ends the running hook.
  func work() async {
    for await hook in wanted.stream {
      guard let command = campaign.hooks[hook.point] else { continue }
      let outcome = await runner.run(
        command, at: hook.point, of: campaign.hooks, hook.facts)
      // An interrupted hook is not recorded: the next process runs it again.
      guard !Task.isCancelled else { return }
      ended.withLock { $0.append(Ended(wave: hook.wave, point: hook.point, outcome: outcome)) }
    }
  }
}

extension HookFacts {
  fileprivate mutating func add(_ wave: WaveProgress) {
    switch wave.verdict {
    case .continue?: set("OUTCOME", "continue")
    case .stop?: set("OUTCOME", "stop")
    case .inconclusive?: set("OUTCOME", "inconclusive")
    case nil: break
    }
    set("SUCCEEDED", "\(wave.tally.succeeded)")
    set("FAILED", "\(wave.tally.failed)")
    set("UNSEEN", "\(wave.tally.unseen)")
    set("LEFT_OUT", "\(wave.tally.neutral)")
  }
}
