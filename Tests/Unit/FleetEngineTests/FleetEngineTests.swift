#if Fleet
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashGATT
import Testing

/// Tests of the engine as it runs on the adapters of a machine, over simulated boards in virtual
/// time.
@Suite struct FleetEngineTests {
  static let new: FirmwareVersion? = FirmwareVersion(1, 3, 0)
  static let lenient = WaveThresholds(successPercent: 0, stop: .count(1000), seenPercent: 0)

  @Test func aCompleteFleetIsUpdated() throws {
    let outcome = try Scene(12).run()
    #expect(outcome.run.control == .ended(.complete(failed: 0)))
    #expect(outcome.truth.values.allSatisfy { $0 == Self.new })
    #expect(outcome.run.devices.allSatisfy { $0.ending == .updated && $0.attempts == 1 })
    #expect(outcome.run.devices.allSatisfy { $0.figures?.proof == "read-back" })
  }

  /// Intents are recorded before outcomes, in the order claimed, placed, activating, ended.
  @Test func intentsAreRecordedBeforeTheyAreExecuted() throws {
    let outcome = try Scene(1).run()
    let names = outcome.history.compactMap { recorded -> String? in
      switch recorded.event {
      case .devicePublished: "published"
      case .deviceClaimed: "claimed"
      case .devicePlaced: "placed"
      case .deviceActivating: "activating"
      case .attemptEnded: "ended"
      case .deviceSettled: "settled"
      default: nil
      }
    }
    #expect(names == ["published", "claimed", "placed", "activating", "ended", "settled"])
  }

  @Test func connectionsAreSequentialOnAnAdapterAndTransfersAreConcurrent() throws {
    let outcome = try Scene(16).run()
    #expect(outcome.connectingMost == 1)
    #expect(outcome.made.keys.sorted() == ["hci0", "hci1"])
    var alone = Scene(16)
    alone.campaign.parallel = 1
    alone.adapters = ["hci0"]
    #expect(try alone.run().took > outcome.took * 3)
  }

  /// For boards that misbehave, lose links, revert, fail permanently, or are absent, each outcome
  /// must be correct.
  @Test func everyOutcomeMatchesTheStateOfItsDevice() throws {
    var scene = Scene(
      10,
      and: [
        "fast?reverts&seed=21", "fast?never-returns&seed=22", "fast?comes-back-old&seed=23",
        "fast?cut-at-pdu=60&seed=24", "fast?loss=5%&seed=25", "fast?silent&seed=26",
        "fast?busy-forever&seed=27", "fast?version=1.3.0&seed=28", "fast?nonsense&seed=29",
      ])
    scene.campaign.waves[0].thresholds = Self.lenient
    scene.campaign.devices.append(FleetDevice(id: "unknown"))
    let outcome = try scene.run()
    for device in outcome.run.devices {
      let runsNew = outcome.truth[device.device.id] == Self.new
      let succeeded = device.ending?.count == .succeeded
      // A device that is not found after its activation does not count as updated.
      if device.device.id == "other1" {
        #expect(!succeeded)
      } else if device.device.id != "other7" {
        #expect(succeeded == runsNew, "\(device.device.id): \(String(describing: device.ending))")
      }
    }
    #expect(outcome.run["unknown"]?.ending == .absent)
    #expect(outcome.run["other0"]?.ending?.count == .failed)
    #expect(outcome.run["other3"]?.ending == .updated && outcome.run["other4"]?.ending == .updated)
  }

  /// One device of twenty hangs, each time at another stage: for example, it accepts no connection,
  /// does not answer, accepts no data, never receives a block correctly, never returns, or returns
  /// with another address. The other devices must end within 105 % of the time that they need
  /// without this device.
  @Test(arguments: [
    "deaf", "silent", "nonsense", "refuses-data", "busy-forever", "repeat-offset", "window-flaps",
    "durable-wanders", "wrong-crc-always", "wrong-verify-crc", "never-returns", "comes-back-old",
    "new-address",
  ])
  func aHangingDeviceDelaysNoOtherDevice(_ fault: String) throws {
    func others(_ scene: Scene) throws -> Duration {
      var scene = scene
      // The transfers take as long as real transfers. A wait for the adapter, which one device may
      // cause, takes a second.
      scene.packages[nil] = FirmwarePackage(
        name: "app", kind: .raw, parts: [Scene.image(bytes: 120_000)])
      scene.boards = scene.boards.map {
        ($0.id, $0.profile + ($0.profile.contains("?") ? "&" : "?") + "interval=50ms")
      }
      scene.campaign.flash.writing = .withResponse
      scene.campaign.parallel = 10
      scene.campaign.waves[0].thresholds = Self.lenient
      let outcome = try scene.run()
      let ends = outcome.run.devices.filter { $0.device.id.hasPrefix("board") }
      #expect(ends.count == 19 && ends.allSatisfy { $0.ending == .updated })
      #expect(outcome.run["other0"]?.ending?.count != .succeeded, "the device hangs")
      let began = try #require(outcome.run.beganAt)
      return began.duration(to: try #require(ends.compactMap(\.settledAt).max()))
    }
    let without = try others(Scene(19))
    var hanging = Scene(19, and: [fault == "deaf" ? "fast" : "fast?\(fault)&seed=50"])
    if fault == "deaf" { hanging.deaf = ["other0"] }
    let with = try others(hanging)
    #expect(with <= without * 1.05, "\(with) instead of \(without)")
  }

  @Test func anInvalidImageStopsTheRunAfterTheCanary() throws {
    var scene = Scene(
      0, and: (0..<10).map { "fast?reverts&seed=\($0 + 1)" },
      waves: [Wave("canary", .count(2)), Wave("all", .rest)])
    scene.campaign.waves[0].thresholds.stop = .count(1)
    scene.campaign.retries.sameFailures = 1
    let outcome = try scene.run()
    #expect(outcome.run.control == .ended(.stopped(wave: 0)))
    #expect(outcome.run.devices.count { $0.attempts > 0 } == 2)
    #expect(outcome.sent.values.count { $0 > 0 } <= 2)
  }

  @Test func devicesOfAMissingAdapterMoveToAnotherWithoutAFailure() throws {
    var scene = Scene(12)
    scene.campaign.waves[0].thresholds.stop = .count(1)
    scene.meanwhile = { transport, clock in
      await clock.pause(for: .milliseconds(1200))
      transport.setAdapters(["hci1"])
    }
    let outcome = try scene.run()
    #expect(outcome.run.control == .ended(.complete(failed: 0)))
    #expect(outcome.truth.values.allSatisfy { $0 == Self.new })
    let moved = outcome.run.devices.filter { Set($0.records.map(\.adapter)).count > 1 }
    #expect(moved.count >= 2, "the devices that it was updating")
    #expect(moved.allSatisfy { $0.records.last?.adapter == "hci1" && $0.linkFailures == 0 })
    #expect(outcome.notices == [.adapterLost("hci0")])
    // The time must not exceed the time of one adapter for all devices, plus the wait before
    // another attempt.
    var alone = Scene(12)
    alone.adapters = ["hci1"]
    #expect(outcome.took <= (try alone.run().took) + .seconds(4), "\(outcome.took)")
  }

  /// An adapter whose connections all fail immediately always has a free place.
  @Test func aFailingAdapterDoesNotReceiveEveryDevice() throws {
    var scene = Scene(12)
    scene.campaign.retries.infrastructureFailures = 1000
    scene.meanwhile = { transport, _ in transport.broken.withLock { $0 = ["hci0"] } }
    let outcome = try scene.run()
    #expect(outcome.run.control == .ended(.complete(failed: 0)))
    let failed = outcome.run.devices.flatMap(\.records).filter { $0.adapter == "hci0" }
    #expect((1...12).contains(failed.count), "\(failed.count)")
    var alone = Scene(12)
    alone.adapters = ["hci1"]
    #expect(outcome.took <= (try alone.run().took) + .seconds(12), "\(outcome.took)")
  }

  /// The run reports that it has no adapter, pauses, and resumes automatically.
  @Test func withoutAnAdapterTheRunWaitsForAnAdapter() throws {
    var scene = Scene(3)
    scene.adapters = []
    scene.meanwhile = { transport, clock in
      await clock.pause(for: .seconds(3600))
      transport.setAdapters(["hci0"])
    }
    let outcome = try scene.run()
    #expect(outcome.run.control == .ended(.complete(failed: 0)))
    #expect(outcome.took > .seconds(3600) && outcome.took < .seconds(3660))
    #expect(outcome.notices == [.noAdapter, .adapterBack("hci0")])
    #expect(Self.pauses(outcome) == [30, 3600])
  }

  /// Returns the times at which the run was paused and resumed, in whole seconds from its start.
  private static func pauses(_ outcome: Scene.Outcome) -> [Int64] {
    outcome.history.compactMap { recorded in
      switch recorded.event {
      case .runPaused(let reason):
        #expect(reason == .noAdapter)
        return (recorded.at.milliseconds - 1_800_000_000_000) / 1000
      case .runResumed: return (recorded.at.milliseconds - 1_800_000_000_000) / 1000
      default: return nil
      }
    }
  }

  /// All adapters disappear during the run: no device fails, and no device is forgotten.
  @Test(arguments: [1, 20])
  func aRunSurvivesTheLossOfAllAdapters(_ infrastructureFailures: Int) throws {
    var scene = Scene(12)
    scene.campaign.waves[0].thresholds.stop = .count(1)
    scene.campaign.retries.infrastructureFailures = infrastructureFailures
    scene.meanwhile = { transport, clock in
      await clock.pause(for: .milliseconds(1200))
      transport.setAdapters([])
      await clock.pause(for: .seconds(600))
      transport.setAdapters(["hci1"])
    }
    let outcome = try scene.run()
    #expect(outcome.run.control == .ended(.complete(failed: 0)))
    #expect(outcome.truth.values.allSatisfy { $0 == Self.new })
    #expect(outcome.run.devices.allSatisfy { $0.linkFailures == 0 })
    #expect(
      outcome.notices == [
        .adapterLost("hci0"), .adapterLost("hci1"), .noAdapter, .adapterBack("hci1"),
      ])
    let pauses = Self.pauses(outcome)
    #expect(pauses.last == 601 && pauses.count == 2)
    // The run pauses because of its failures, or because of the time without an adapter.
    #expect(pauses.first.map { infrastructureFailures == 1 ? $0 < 5 : $0 == 31 } == true)
  }

  /// A missing adapter does not delay steps that need no adapter.
  @Test func aMissingAdapterDoesNotPauseASoakingWave() throws {
    var scene = Scene(
      2, waves: [Wave("canary", .count(1), soak: .seconds(7200)), Wave("all", .rest)])
    scene.meanwhile = { transport, clock in
      await clock.pause(for: .seconds(60))
      transport.setAdapters([])
      await clock.pause(for: .seconds(600))
      transport.setAdapters(["hci1"])
    }
    let outcome = try scene.run()
    #expect(outcome.run.control == .ended(.complete(failed: 0)) && Self.pauses(outcome).isEmpty)
  }

  /// The displayed state of a run, without times and numbers of attempts.
  struct Report: Equatable {
    let control: FleetRun.Control
    let endings: [DeviceEnding?]
    let tallies: [WaveTally]

    init(_ run: FleetRun) {
      control = run.control
      endings = run.devices.map(\.ending)
      tallies = run.waves.map(\.tally)
    }
  }

  static let hurt = [
    "fast?reverts&seed=31", "fast?cut-at-pdu=60&seed=32", "fast?loss=5%&seed=33",
  ]

  /// The process dies before each of the events is recorded, and another process continues.
  @Test func aKillAtAnyEventLeadsToTheSameReport() throws {
    var scene = Scene(3, and: Self.hurt)
    scene.campaign.waves[0].thresholds = Self.lenient
    let whole = try scene.run()
    for kill in 0..<whole.history.count {
      scene.killsAfter = [kill]
      let outcome = try scene.run()
      #expect(Report(outcome.run) == Report(whole.run), "killed at event \(kill)")
      #expect(outcome.truth == whole.truth, "killed at event \(kill)")
    }
  }

  @Test func repeatedKillsLeadToTheSameReport() throws {
    var scene = Scene(6, and: Self.hurt)
    scene.campaign.waves[0].thresholds = Self.lenient
    let whole = try scene.run()
    scene.killsAfter = Array(repeating: 7, count: 12)
    let outcome = try scene.run()
    #expect(outcome.processes > 5)
    #expect(Report(outcome.run) == Report(whole.run))
    #expect(outcome.truth == whole.truth)
    for device in scene.boards where device.id.hasPrefix("board") {
      // Each image is sent once. Data that was in flight when a process died is sent at most once
      // more.
      #expect((outcome.sent[device.id] ?? 0) < 3 * Scene.image.bytes.count)
    }
  }

  @Test func continuingACompletedRunHasNoEffect() throws {
    var scene = Scene(2)
    scene.killsAfter = [10_000]
    let outcome = try scene.run()
    #expect(outcome.processes == 1 && outcome.run.control == .ended(.complete(failed: 0)))
  }
}
#endif
