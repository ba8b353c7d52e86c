#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetHooks
import OtaflashFleetReport
import OtaflashFleetStore

/// The hooks `run-ended`, `run-paused` and `run-stopped`: run one after the other, with the report
/// of that moment as JSON on their standard input. They decide nothing, and nothing waits for them
/// but the end of the command.
final class RunHooks: Sendable {
  private struct Due: Sendable {
    let point: HookPoint
    let environment: [String: String]
  }

  /// A run that pauses again and again while a hook runs: the newest are run.
  private static let dueMaximum = 16
  private static let prefix = "OTAFLASH_HOOK_"

  private let campaign: Campaign
  private let run: KeptRun
  private let store: FleetStore
  private let runner: ProcessHooks
  private let console: Console
  private let due = AsyncStream.makeStream(
    of: Due.self, bufferingPolicy: .bufferingNewest(dueMaximum))

  /// - Parameter runner: in the campaign's folder.
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

  /// Notes the hooks that recorded events are followed by.
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

  /// No more events follow: `work` returns after the hooks that are noted.
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
      tell(hook.point, outcome)
    }
  }

  /// One JSON object: what `fleet report --json` prints, with the devices in it.
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

  private func tell(_ point: HookPoint, _ outcome: HookOutcome) {
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
