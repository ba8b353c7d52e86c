#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetHooks
import OtaflashFleetReport
import OtaflashFleetStore

/// Runs the hooks `run-ended`, `run-paused` and `run-stopped` one after the other, with the present
/// report as JSON on standard input. Hooks do not affect the run, but the command waits for them
/// before it ends.
final class RunHooks: Sendable {
  private struct Due: Sendable {
    let point: HookPoint
    let environment: [String: String]
  }

  /// The maximum number of pending hooks. If a run pauses repeatedly while a hook runs, the oldest
  /// pending hooks are dropped.
  private static let dueMaximum = 16
  private static let prefix = "OTAFLASH_HOOK_"

  private let campaign: Campaign
  private let run: KeptRun
  private let store: FleetStore
  private let runner: ProcessHooks
  private let console: Console
  private let due = AsyncStream.makeStream(
    of: Due.self, bufferingPolicy: .bufferingNewest(dueMaximum))

  /// - Parameter runner: a runner in the campaign's folder.
  init(
    _ campaign: Campaign, of run: KeptRun, in store: FleetStore, runner: ProcessHooks,
    _ console: Console
  ) {
    self.campaign = campaign
    self.run = run
    self.store = store
    self.runner = runner
    self.console = console
  }

  /// Adds the hooks of recorded events to the queue.
  func observe(_ events: [FleetEvent]) {
    for event in events {
      guard let point = HookPoint(reachedBy: event), campaign.hooks[point] != nil else { continue }
      var environment = [
        "POINT": point.rawValue, "RUN": run.id, "CAMPAIGN": campaign.name,
      ]
      switch event {
      case .runEnded(let ending): environment["OUTCOME"] = ending.name
      case .runPaused(let reason):
        environment["OUTCOME"] = reason.name
        environment["REASON"] = reason.sentence
      case .approvalAwaited(let wave):
        environment["OUTCOME"] = "approval"
        environment["REASON"] = "wave \(wave + 1) waits for approval"
      default: break
      }
      due.continuation.yield(
        Due(
          point: point,
          environment: Dictionary(
            uniqueKeysWithValues: environment.map { (Self.prefix + $0, $1) })))
    }
  }

  /// Ends the queue: `work` returns after the pending hooks.
  func finish() { due.continuation.finish() }

  /// Runs the hooks, until `finish` or until its task is cancelled.
  func work() async {
    for await hook in due.stream {
      guard let command = campaign.hooks[hook.point] else { continue }
      let outcome: HookOutcome
      do throws(CommandFault) {
        outcome = await runner.run(
          command, environment: hook.environment, input: try await report(at: hook.point),
          timeLimit: campaign.hooks.timeLimit)
      } catch {
        outcome = HookOutcome(.notRun(words: "the report cannot be read"))
      }
      guard !Task.isCancelled else { return }
      report(hook.point, outcome)
    }
  }

  /// Returns the output of `fleet report --json` as one JSON object that contains the devices.
  private func report(at point: HookPoint) async throws(CommandFault) -> [UInt8] {
    let head: ChainHead?
    do throws(StorageFault) { head = try store.head(of: run.id) } catch {
      throw .fleet(.store(error))
    }
    guard let head, let report = RunReport(try await store.history(of: run.id)) else {
      throw .fleet(.noEvents(of: run.id))
    }
    let members =
      JSONValue.fields(["v": 1, "hook": .string(point.rawValue)])
      + report.members(events: head.events, chain: head.hash)
      + JSONValue.fields(["devices": .array(report.devices.map { .object(report.members(of: $0)) })]
      )
    return Array((JSONValue.object(members).text + "\n").utf8)
  }

  private func report(_ point: HookPoint, _ outcome: HookOutcome) {
    if !outcome.isSuccess { console.note("note: hook \(point.rawValue) \(outcome.words)") }
    console.event(
      "fleet_hook",
      [
        "run": .string(run.id), "hook": .string(point.rawValue), "words": .string(outcome.words),
        "ok": .bool(outcome.isSuccess),
      ])
  }
}
#endif
