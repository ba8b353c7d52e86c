#if Fleet
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashGATT
import Synchronization
import Testing

/// A runner of scripted hooks, which take virtual time.
final class ScriptedHooks: HookRunner {
  struct Call: Sendable {
    let at: Duration
    let environment: [String: String]

    subscript(name: String) -> String? { environment["OTAFLASH_HOOK_" + name] }
  }

  typealias Script = @Sendable (Call) -> (end: HookOutcome.End, takes: Duration)

  private struct State {
    var clock: (any LinkClock)?
    var calls: [Call] = []
  }

  private let script: Script
  private let state = Mutex(State())

  init(_ script: @escaping Script) { self.script = script }

  func use(_ clock: any LinkClock) { state.withLock { $0.clock = clock } }

  var calls: [Call] { state.withLock { $0.calls } }

  func calls(at point: HookPoint) -> [Call] { calls.filter { $0["POINT"] == point.rawValue } }

  func run(
    _ hook: HookCommand, environment: [String: String], timeLimit: Duration
  ) async -> HookOutcome {
    guard let clock = state.withLock({ $0.clock }) else { return HookOutcome(.interrupted) }
    let call = Call(at: clock.now.elapsed, environment: environment)
    state.withLock { $0.calls.append(call) }
    let (end, takes) = script(call)
    guard await clock.pause(for: min(takes, timeLimit)) else { return HookOutcome(.interrupted) }
    return HookOutcome(takes > timeLimit ? .timedOut : end, output: "said so")
  }
}

@Suite struct HookTests {
  static func scene(
    _ count: Int, _ points: [HookPoint], waves: [Wave] = [Wave("all", .rest)],
    _ script: @escaping ScriptedHooks.Script = { _ in (.exited(code: 0), .milliseconds(10)) }
  ) -> (Scene, ScriptedHooks) {
    var scene = Scene(count, waves: waves)
    for point in points { scene.campaign.hooks.commands[point] = .words(["hook"]) }
    let hooks = ScriptedHooks(script)
    scene.hooks = hooks
    return (scene, hooks)
  }

  static func outcomes(_ history: [RecordedEvent]) -> [HookPoint: [HookOutcome.End]] {
    var found: [HookPoint: [HookOutcome.End]] = [:]
    for recorded in history {
      switch recorded.event {
      case .deviceHookEnded(_, _, let point, let outcome),
        .waveHookEnded(_, let point, let outcome):
        #expect(outcome.output == "said so")
        found[point, default: []].append(outcome.end)
      default: break
      }
    }
    return found
  }

  @Test func hooksOfADeviceReceiveTheKnownFacts() throws {
    var (scene, hooks) = Self.scene(1, [.beforeDevice, .afterDevice])
    scene.campaign.devices = [
      FleetDevice(id: "board0", name: "front", board: "door", site: nil, tags: ["b", "a"])
    ]
    scene.campaign.images = ["door": "app.bin"]
    let outcome = try scene.run()
    #expect(outcome.run["board0"]?.ending == .updated)
    let before = try #require(hooks.calls(at: .beforeDevice).first)
    #expect(
      before.environment == [
        "OTAFLASH_HOOK_POINT": "before-device", "OTAFLASH_HOOK_RUN": "r",
        "OTAFLASH_HOOK_CAMPAIGN": "scene", "OTAFLASH_HOOK_WAVE": "all",
        "OTAFLASH_HOOK_DEVICE": "board0", "OTAFLASH_HOOK_DEVICE_NAME": "front",
        "OTAFLASH_HOOK_BOARD": "door", "OTAFLASH_HOOK_TAGS": "a b", "OTAFLASH_HOOK_ATTEMPT": "1",
        "OTAFLASH_HOOK_IMAGE": "app.bin", "OTAFLASH_HOOK_IMAGE_DIGEST": "i",
      ])
    let after = try #require(hooks.calls(at: .afterDevice).first)
    #expect(after["OUTCOME"] == "updated" && after["TO"] == "1.3.0" && after["FROM"] == "1.2.0")
    #expect(
      Self.outcomes(outcome.history) == [
        .beforeDevice: [.exited(code: 0)], .afterDevice: [.exited(code: 0)],
      ])
    let names = outcome.history.map { "\($0.event)".prefix { $0 != "(" } }
    let first = try #require(names.firstIndex(of: "deviceHookEnded"))
    let last = try #require(names.lastIndex(of: "deviceHookEnded"))
    let activating = try #require(names.firstIndex(of: "deviceActivating"))
    let ended = try #require(names.firstIndex(of: "attemptEnded"))
    #expect(first < activating && activating < last && last < ended)
  }

  @Test func aDeviceThatItsHookExcludesIsSkippedWithoutAConnection() throws {
    var (scene, _) = Self.scene(6, [.beforeDevice]) { call in
      (.exited(code: call["DEVICE"] == "board2" ? 3 : 0), .milliseconds(10))
    }
    scene.campaign.waves[0].thresholds.stop = .count(1)
    let outcome = try scene.run()
    #expect(outcome.run.control == .ended(.complete(failed: 1)))
    guard case .skipped(let words)? = outcome.run["board2"]?.ending else {
      return #expect(Bool(false), "it is skipped")
    }
    #expect(words == "the hook before the device exited with code 3: said so")
    #expect(outcome.sent["board2"] == 0 && outcome.truth["board2"] != FleetEngineTests.new)
    let tally = outcome.run.waves[0].tally
    #expect(tally.succeeded == 5 && tally.failed == 0 && tally.neutral == 1)
    #expect(outcome.run.waves[0].verdict == .continue)
  }

  /// The verdict of a wave in which all devices are skipped is inconclusive, and the run pauses.
  @Test func aWaveWithTooManySkippedDevicesHasNoVerdict() throws {
    let waves = [Wave("canary", .count(4)), Wave("all", .rest)]
    let (scene, _) = Self.scene(8, [.beforeDevice], waves: waves) { _ in
      (.exited(code: 1), .zero)
    }
    let outcome = try scene.run()
    #expect(outcome.run.control == .paused(.inconclusive(wave: 0)))
    #expect(outcome.run.waves[0].verdict == .inconclusive(seen: 0, of: 4))
  }

  @Test func aHookMayMarkItsDeviceAsFailed() throws {
    var (scene, hooks) = Self.scene(4, [.beforeDevice, .afterDevice]) { call in
      let isBad = call["DEVICE"] == "board1" && call["POINT"] == "before-device"
      return (.exited(code: isBad ? 1 : 0), .zero)
    }
    scene.campaign.hooks.onFailure = .fail
    scene.campaign.waves[0].thresholds = FleetEngineTests.lenient
    let outcome = try scene.run()
    guard case .failed(let failure)? = outcome.run["board1"]?.ending else {
      return #expect(Bool(false), "it has failed")
    }
    #expect(failure.code == "before-device-hook" && failure.kind == .device)
    #expect(outcome.run["board1"]?.attempts == 1 && outcome.sent["board1"] == 0)
    #expect(!hooks.calls(at: .afterDevice).contains { $0["DEVICE"] == "board1" })
  }

  @Test(arguments: [CampaignHooks.AfterFailure.note, .fail])
  func theEffectOfAHookAfterADeviceIsConfigurable(_ choice: CampaignHooks.AfterFailure) throws {
    var (scene, _) = Self.scene(2, [.afterDevice]) { call in
      (.exited(code: call["DEVICE"] == "board1" ? 1 : 0), .zero)
    }
    scene.campaign.hooks.afterFailure = choice
    scene.campaign.waves[0].thresholds = FleetEngineTests.lenient
    let outcome = try scene.run()
    #expect(outcome.run["board0"]?.ending == .updated)
    #expect(outcome.truth["board1"] == FleetEngineTests.new)
    switch choice {
    case .note: #expect(outcome.run["board1"]?.ending == .updated)
    case .fail: #expect(outcome.run["board1"]?.ending?.count == .failed)
    }
    #expect(Self.outcomes(outcome.history)[.afterDevice]?.contains(.exited(code: 1)) == true)
  }

  /// A missing command is not evidence about the devices.
  @Test func aHookThatCannotBeExecutedPausesTheRun() throws {
    var (scene, _) = Self.scene(3, [.beforeDevice]) { _ in
      (.notRun(words: "there is no program 'hook'"), .zero)
    }
    scene.campaign.retries.infrastructureFailures = 4
    let outcome = try scene.run()
    let words = "the hook before the device could not be started: there is no program 'hook'"
    guard case .paused(.infrastructure(let failures, words)) = outcome.run.control else {
      return #expect(Bool(false), "\(outcome.run.control)")
    }
    #expect(failures >= 4)
    #expect(outcome.run.devices.allSatisfy { $0.ending == nil })
    scene.hooks = nil
    #expect(try scene.run().run.devices.allSatisfy { $0.ending == nil }, "no process runs the hook")
  }

  @Test func aForecastRunsNoHooks() throws {
    var (scene, _) = Self.scene(3, HookPoint.allCases)
    scene.hooks = HooksLeftOut()
    let outcome = try scene.run()
    #expect(outcome.run.control == .ended(.complete(failed: 0)))
    #expect(outcome.took < .seconds(30))
  }

  /// A hook takes three minutes. The claim, whose lease is 45 s, must be kept, and the other
  /// devices must continue.
  @Test func theClaimIsKeptWhileAHookRuns() throws {
    var (scene, _) = Self.scene(6, [.beforeDevice]) { call in
      (.exited(code: 0), call["DEVICE"] == "board0" ? .seconds(180) : .zero)
    }
    scene.campaign.hooks.timeLimit = .seconds(600)
    let outcome = try scene.run()
    #expect(outcome.run.devices.allSatisfy { $0.ending == .updated && $0.attempts == 1 })
    let slow = try #require(outcome.run["board0"]?.settledAt)
    let others = outcome.run.devices.filter { $0.device.id != "board0" }.compactMap(\.settledAt)
    #expect(others.count == 5 && others.allSatisfy { $0.duration(to: slow) > .seconds(150) })
  }

  @Test func aHangingHookEndsAtItsTimeLimit() throws {
    var (scene, _) = Self.scene(3, [.beforeDevice]) { call in
      (.exited(code: 0), call["DEVICE"] == "board0" ? .seconds(100_000) : .zero)
    }
    scene.campaign.hooks.timeLimit = .seconds(20)
    let outcome = try scene.run()
    #expect(Self.outcomes(outcome.history)[.beforeDevice]?.contains(.timedOut) == true)
    guard case .skipped? = outcome.run["board0"]?.ending else {
      return #expect(Bool(false), "it is skipped")
    }
    #expect(outcome.took < .seconds(60))
  }

  // MARK: Waves

  static let two = [Wave("canary", .count(1)), Wave("all", .rest)]

  @Test func hooksOfWavesRunBeforeAndAfterThem() throws {
    let (scene, hooks) = Self.scene(4, [.beforeWave, .afterWave], waves: Self.two) { _ in
      (.exited(code: 0), .seconds(30))
    }
    let outcome = try scene.run()
    #expect(outcome.run.control == .ended(.complete(failed: 0)))
    #expect(
      hooks.calls.map { "\($0["POINT"] ?? "") \($0["WAVE"] ?? "")" } == [
        "before-wave canary", "after-wave canary", "before-wave all", "after-wave all",
      ])
    let last = try #require(hooks.calls.last)
    #expect(last["OUTCOME"] == "continue" && last["SUCCEEDED"] == "3" && last["DEVICES"] == "3")
    for device in outcome.run.devices {
      let claimed = try #require(device.records.first).began.milliseconds - 1_800_000_000_000
      #expect(claimed >= (device.wave == 0 ? 30_000 : 90_000), "not before the end of the hooks")
    }
  }

  @Test func aWaveWithAFailedHookWaitsForAnOperator() throws {
    let (scene, hooks) = Self.scene(3, [.beforeWave], waves: Self.two) { call in
      (.exited(code: call["WAVE"] == "all" && call.at < .seconds(100) ? 1 : 0), .seconds(1))
    }
    let orders = Requests([(200, .resume)])
    let outcome = try scene.run(asking: orders)
    let pause = outcome.history.first {
      if case .runPaused = $0.event { true } else { false }
    }
    #expect(
      pause?.event
        == .runPaused(
          because: .hook(wave: 1, point: .beforeWave, words: "exited with code 1: said so")))
    #expect(hooks.calls(at: .beforeWave).map { $0["WAVE"] } == ["canary", "all", "all"])
    #expect(outcome.run.control == .ended(.complete(failed: 0)))
  }

  @Test(arguments: [CampaignHooks.AfterFailure.note, .fail])
  func aHookAfterAWaveMayDelayTheNextWave(_ choice: CampaignHooks.AfterFailure) throws {
    var (scene, hooks) = Self.scene(3, [.afterWave], waves: Self.two) { _ in
      (.exited(code: 1), .seconds(1))
    }
    scene.campaign.hooks.afterFailure = choice
    let outcome = try scene.run(asking: choice == .note ? nil : Requests([(500, .resume)]))
    #expect(outcome.run.control == .ended(.complete(failed: 0)))
    #expect(hooks.calls.count == 2, "an operator has approved; the hook does not run again")
    #expect((outcome.took > .seconds(500)) == (choice == .fail))
  }

  /// The hook after a stopped wave runs after all workers have finished.
  @Test func aStoppedWaveAlsoRunsItsHook() throws {
    var (scene, hooks) = Self.scene(0, [.afterWave])
    scene.boards = (0..<6).map { ("bad\($0)", "fast?reverts&seed=\($0 + 1)") }
    scene.campaign.devices = scene.boards.map { FleetDevice(id: $0.id) }
    scene.campaign.waves = [Wave("canary", .count(4)), Wave("all", .rest)]
    scene.campaign.waves[0].thresholds.stop = .count(1)
    scene.campaign.retries.sameFailures = 1
    let outcome = try scene.run()
    #expect(outcome.run.control == .ended(.stopped(wave: 0)))
    #expect(hooks.calls.map { $0["OUTCOME"] } == ["stop"])
    let ends = outcome.run.devices.compactMap { $0.settledAt?.milliseconds }
    let asked = Int64(hooks.calls[0].at.components.seconds) * 1000 + 1_800_000_000_000
    #expect(ends.allSatisfy { $0 < asked + 1000 })
  }

  /// The process dies before each of the events. Each hook of a wave, and the hook before each
  /// device, must run at least once, and the run must have the same outcome.
  @Test func aKillAtAnyEventKeepsHooksAndReport() throws {
    var (scene, _) = Self.scene(
      2, [.beforeDevice, .afterDevice, .beforeWave, .afterWave], waves: Self.two)
    let whole = try scene.run()
    for kill in 0..<whole.history.count {
      scene.killsAfter = [kill]
      let hooks = ScriptedHooks { _ in (.exited(code: 0), .milliseconds(10)) }
      scene.hooks = hooks
      let outcome = try scene.run()
      #expect(
        FleetEngineTests.Report(outcome.run) == FleetEngineTests.Report(whole.run),
        "killed at event \(kill)")
      #expect(hooks.calls(at: .beforeWave).count >= 2 && hooks.calls(at: .afterWave).count >= 2)
      #expect(hooks.calls(at: .beforeDevice).count >= 2)
    }
  }

  @Test func cancellationEndsTheRunningHook() throws {
    let (scene, _) = Self.scene(2, [.beforeWave]) { _ in (.exited(code: 0), .seconds(50)) }
    let outcome = try scene.run(asking: Requests([(10, .cancel)]))
    #expect(outcome.run.control == .ended(.cancelled) && outcome.took < .seconds(15))
  }
}
#endif
