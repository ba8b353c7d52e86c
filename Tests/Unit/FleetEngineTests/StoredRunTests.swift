#if Fleet
import Foundation
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashFleetStore
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization
import Testing

/// Tests of the engine with a store on disk, and of operator commands.
@Suite struct StoredRunTests {
  /// A folder that is removed with its test.
  final class Folder: Sendable {
    let url: URL

    init() throws {
      url = FileManager.default.temporaryDirectory.appending(path: "run-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
      do { try FileManager.default.removeItem(at: url) } catch { print("not removed: \(error)") }
    }

    var path: String { url.appending(path: "fleet.sqlite").path }
  }

  /// Runs the processes of a run. Each process opens the file again, ends the attempts of the
  /// previous process, and dies after a number of events. The last process completes the run.
  static func run(
    _ scene: Scene, in path: String, dyingAfter kills: [Int]
  ) throws -> (run: FleetRun, truth: [String: FirmwareVersion?], processes: Int) {
    let timeline = VirtualTimeline()
    var made: [FleetDevice.ID: SimulatedBoard] = [:]
    for board in scene.boards {
      made[board.id] = try SimulatedBoard(
        profile: try SimulationProfile(parsing: board.profile), clock: timeline.clock)
    }
    let boards = made
    let transport = BoardTransport(boards, adapters: scene.adapters)
    let campaign = scene.campaign
    let ended = try timeline.run(limit: .seconds(200_000)) {
      clock -> Result<(FleetRun, Int), any Error> in
      await withTaskGroup(of: Void.self) { power in
        for board in boards.values { power.addTask { _ = await board.run() } }
        defer { power.cancelAll() }
        do {
          return .success(try await processes(campaign, transport, clock, path, kills))
        } catch {
          return .failure(error)
        }
      }
    }.get()
    return (ended.0, boards.mapValues { $0.running.version }, ended.1)
  }

  private static func processes(
    _ campaign: Campaign, _ transport: BoardTransport, _ clock: any LinkClock, _ path: String,
    _ kills: [Int]
  ) async throws -> (FleetRun, Int) {
    let environment = FleetEnvironment(
      clock: clock,
      wall: {
        WallClockTime(milliseconds: 1_800_000_000_000 + clock.now.elapsed.wholeMilliseconds)
      }, image: { _ in FirmwarePackage(name: "app", kind: .raw, parts: [Scene.image]) })
    let plan = try CampaignPlan(campaign, now: environment.wall())
    try await FleetStore(path: path).ledger(of: "r").append(
      plan.beginning(id: "r", digest: "d", imageDigests: ["app.bin": "i"]),
      at: environment.wall())
    for (number, kill) in (kills + [Int.max / 2]).enumerated() {
      let store = try FleetStore(path: path)
      let ledger = MortalLedger(store.ledger(of: "r"), dyingAfter: kill)
      let engine = FleetEngine(
        campaign: campaign, exchange: MemoryExchange(clock: clock), ledger: ledger,
        transport: transport,
        environment: environment, worker: FleetWorker(name: "process \(number)"))
      let ended: FleetRun?
      do throws(FleetEngineFault) { ended = try await engine.run() } catch {
        guard case .storage = error else { throw error }
        ended = nil
      }
      if let ended { return (ended, number + 1) }
    }
    preconditionFailure("the last process lives")
  }

  @Test func aStoredRunIsCompletedDespiteManyKills() throws {
    var scene = Scene(4, and: FleetEngineTests.hurt)
    scene.campaign.waves[0].thresholds = FleetEngineTests.lenient
    let undisturbed = try Folder()
    let whole = try Self.run(scene, in: undisturbed.path, dyingAfter: [])
    let folder = try Folder()
    let killed = try Self.run(
      scene, in: folder.path, dyingAfter: [0, 1, 2, 3, 5, 8, 13, 4, 4, 4, 1, 1])
    #expect(killed.processes > 6)
    #expect(FleetEngineTests.Report(killed.run) == FleetEngineTests.Report(whole.run))
    #expect(killed.truth == whole.truth)
    let store = try FleetStore(path: folder.path, isReadOnly: true)
    guard case .intact(let events, _) = try store.verify(run: "r") else {
      return #expect(Bool(false), "the chain is whole")
    }
    #expect(events == killed.run.eventCount)
  }

  /// The newest events of the log are lost, so devices run images that no event mentions.
  @Test(arguments: [1, 3, 5, 8]) func aDeviceIsQueriedAgainAfterALostEvent(_ lost: Int) throws {
    var scene = Scene(4)
    scene.killsAfter = [16]
    scene.forgets = lost
    let outcome = try scene.run()
    #expect(outcome.run.control == .ended(.complete(failed: 0)))
    #expect(outcome.processes == 2)
    for (device, version) in outcome.truth { #expect(version == Scene.image.version, "\(device)") }
    // Each image was sent once, because the device was queried first.
    for (device, sent) in outcome.sent { #expect(sent < 2 * 12_000, "\(device)") }
  }

  /// Requests from another terminal are executed and answered.
  @Test func operatorsPauseResumeAndCancel() throws {
    var scene = Scene(12)
    scene.campaign.parallel = 1
    let commands = Requests([(2, .pause), (60, .resume), (61, .resume), (62, .cancel)])
    let outcome = try scene.run(asking: commands)
    #expect(outcome.run.control == .ended(.cancelled))
    #expect(
      commands.answers == ["done", "done", CommandRefusal.nothingToResume.description, "done"])
    let begun = outcome.history.compactMap { recorded -> Int64? in
      guard case .deviceClaimed = recorded.event else { return nil }
      return recorded.at.milliseconds - 1_800_000_000_000
    }
    #expect(!begun.contains { (3_000..<60_000).contains($0) }, "no update begins in a pause")
    #expect(begun.contains { $0 >= 60_000 })
    for device in outcome.run.devices where device.attempts == 0 {
      #expect(outcome.sent[device.device.id] == 0)
    }
  }
}

/// Requests that are added at the given times, in seconds.
final class Requests: CommandSource {
  private struct State {
    var waiting: [(second: Int, command: OperatorCommand)]
    var answers: [String] = []
    var clock: (any LinkClock)?
  }

  private let state: Mutex<State>

  init(_ commands: [(Int, OperatorCommand)]) {
    state = Mutex(State(waiting: commands.map { ($0.0, $0.1) }))
  }

  var answers: [String] { state.withLock { $0.answers } }

  func use(_ clock: any LinkClock) { state.withLock { $0.clock = clock } }

  func pending() async throws(StorageFault) -> [PendingCommand] {
    state.withLock { state in
      guard let first = state.waiting.first,
        let now = state.clock?.now.elapsed, now >= .seconds(first.second)
      else { return [] }
      return [PendingCommand(number: state.answers.count, command: first.command)]
    }
  }

  func answer(_ pending: PendingCommand, _ words: String) async throws(StorageFault) {
    state.withLock { state in
      state.waiting.removeFirst()
      state.answers.append(words)
    }
  }
}
#endif
