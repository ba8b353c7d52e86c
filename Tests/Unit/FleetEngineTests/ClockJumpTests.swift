#if Fleet
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashGATT
import Testing

/// Tests in which the machine's clock is set forward or back by hours or days during a run: no
/// claim may be lost, no device may be flashed twice, and no wait may take days.
@Suite struct ClockJumpTests {
  static let days = Duration.seconds(3 * 86_400)

  static func scene() -> Scene {
    var scene = Scene(6, and: FleetEngineTests.hurt)
    scene.campaign.waves[0].thresholds = FleetEngineTests.lenient
    return scene
  }

  @Test(arguments: [
    [days], [.zero - days], [days, .zero - days], [.zero - days, days],
    [.seconds(-3600), .seconds(-3600), .seconds(-3600)],
  ])
  func aRunIsCompletedDespiteChangesOfTheClock(_ jumps: [Duration]) throws {
    let calm = try Self.scene().run()
    var scene = Self.scene()
    scene.jumps = jumps.enumerated().map {
      (after: .milliseconds(1200) + .seconds(3) * $0.offset, by: $0.element)
    }
    let outcome = try scene.run()
    #expect(FleetEngineTests.Report(outcome.run) == FleetEngineTests.Report(calm.run))
    #expect(outcome.truth == calm.truth && outcome.heldTwice == 0)
    #expect(
      !outcome.history.contains { if case .claimExpired = $0.event { true } else { false } })
    #expect(outcome.took <= calm.took + .seconds(2), "\(outcome.took) instead of \(calm.took)")
    for device in scene.boards where device.id.hasPrefix("board") {
      #expect(outcome.run[device.id]?.attempts == 1)
      #expect(outcome.sent[device.id] == calm.sent[device.id])
    }
  }

  @Test func eventsAreInTheOrderOfTheirTime() throws {
    var scene = Self.scene()
    scene.jumps = [(after: .seconds(2), by: .zero - Self.days)]
    let times = try scene.run().history.map(\.at)
    #expect(times == times.sorted())
    #expect(times[0].duration(to: times[times.count - 1]) < .seconds(300))
  }

  /// If the clock is set back, a soak takes no longer. If the clock is set forward, the soak ends,
  /// as after sleep.
  @Test func aClockThatIsSetBackDoesNotExtendASoak() throws {
    let waves = [Wave("canary", .count(1), soak: .seconds(600)), Wave("all", .rest)]
    let calm = try Scene(3, waves: waves).run()
    var scene = Scene(3, waves: waves)
    scene.jumps = [(after: .seconds(100), by: .zero - Self.days)]
    let back = try scene.run()
    #expect(back.took >= .seconds(600) && back.took <= calm.took + .seconds(2))
    scene.jumps = [(after: .seconds(100), by: Self.days)]
    #expect(try scene.run().took < .seconds(200))
  }

  /// A window is a time of day, so the time of the clock decides, even if the clock was set back.
  @Test func windowsUseTheCurrentClock() throws {
    var scene = Scene(2)
    // A scene starts on 2027-01-15 at 08:00 UTC.
    scene.campaign.window = TransferWindow(opens: 9 * 60, closes: 10 * 60)
    scene.jumps = [(after: .seconds(60), by: .seconds(-3600))]
    let outcome = try scene.run()
    #expect(outcome.run.control == .ended(.complete(failed: 0)))
    #expect(outcome.took >= .seconds(7200) && outcome.took < .seconds(7400))
  }

  /// The process that resumes the run finds a clock that was set back, which must not delay the
  /// run.
  @Test func aResumedRunIsNotDelayedByAClockThatWasSetBack() throws {
    let calm = try Self.scene().run()
    var scene = Self.scene()
    scene.killsAfter = [20]
    scene.jumps = [
      (after: .milliseconds(1), by: Self.days), (after: .seconds(3), by: .zero - Self.days),
    ]
    let outcome = try scene.run()
    #expect(outcome.processes == 2)
    #expect(FleetEngineTests.Report(outcome.run) == FleetEngineTests.Report(calm.run))
    #expect(outcome.took < calm.took + .seconds(60))
  }
}
#endif
