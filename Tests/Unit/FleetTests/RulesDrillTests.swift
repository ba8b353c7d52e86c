import OtaflashFleet
import Testing

/// Tests of the rules under adverse conditions, each of which is drawn from a seed.
@Suite struct RulesDrillTests {
  static func plan(
    _ count: Int, stop: WaveThresholds.Limit = .count(1000), success: Int = 0, seen: Int = 0
  ) throws -> CampaignPlan {
    let thresholds = WaveThresholds(successPercent: success, stop: stop, seenPercent: seen)
    var campaign = Campaign(
      name: "c", devices: (0..<count).map { FleetDevice(id: "d\($0)") }, images: [nil: "app.bin"],
      waves: [
        Wave("canary", .count(max(count / 10, 1)), thresholds: thresholds, soak: .seconds(60)),
        Wave("half", .percent(50), thresholds: thresholds),
        Wave("rest", .rest, thresholds: thresholds),
      ])
    campaign.retries.infrastructureFailures = 1000
    return try CampaignPlan(campaign, now: WallClockTime(milliseconds: 0))
  }

  static let seeds = UInt64(1)...200

  @Test func aFleetWithoutFaultsIsUpdatedCompletely() throws {
    var drill = try Drill(Self.plan(50), seed: 1)
    try drill.drive()
    #expect(drill.run.control == .ended(.complete(failed: 0)))
    #expect(drill.run.devices.allSatisfy { $0.ending == .updated && $0.attempts == 1 })
    #expect(drill.truth.count == 50)
  }

  @Test func everyOutcomeMatchesTheRealState() throws {
    for seed in Self.seeds {
      var drill = try Drill(
        Self.plan(40), seed: seed,
        luck: Drill.Luck(bad: 0.1, away: 0.1, linkLoss: 0.2, silence: 0.05, infrastructure: 0.05))
      try drill.drive()
      guard case .ended(.complete(let failed)) = drill.run.control else {
        Issue.record("seed \(seed) ended as \(drill.run.control)")
        continue
      }
      #expect(failed == drill.run.devices.count { $0.ending?.count != .succeeded }, "seed \(seed)")
      for device in drill.run.devices {
        let runs = drill.truth[device.device.id] == true
        #expect((device.ending?.count == .succeeded) == runs, "seed \(seed), \(device.device.id)")
      }
    }
  }

  /// When the threshold is reached, running attempts are completed, and no further attempt starts.
  @Test func aFleetWithManyFailuresStopsAtItsThreshold() throws {
    var stops = 0
    for seed in UInt64(1)...1000 {
      let stop = Int(seed % 5) + 1
      var drill = try Drill(
        Self.plan(60, stop: .count(stop)), seed: seed, luck: Drill.Luck(bad: 0.3, linkLoss: 0.1),
        slots: 4)
      try drill.drive()
      #expect(drill.begunAfterStop == 0, "seed \(seed)")
      guard case .ended(.stopped) = drill.run.control else { continue }
      stops += 1
      #expect(drill.failedWhenStopped == stop, "seed \(seed)")
      let failed = drill.run.waves.map(\.tally.failed).max() ?? 0
      #expect(failed <= stop + 4, "seed \(seed): the threshold plus the devices in flight")
    }
    #expect(stops > 900)
  }

  @Test func aKillAtAnyEventLeadsToTheSameReport() throws {
    let luck = Drill.Luck(bad: 0.1, away: 0.05)
    var whole = try Drill(Self.plan(12), seed: 5, luck: luck)
    try whole.drive()
    for kill in 1...whole.history.count {
      var drill = try Drill(Self.plan(12), seed: 5, luck: luck)
      drill.killsAt = [kill]
      try drill.drive()
      #expect(drill.run.control == whole.run.control, "killed at event \(kill)")
      for device in whole.run.devices {
        #expect(
          drill.run[device.device.id]?.ending?.count == device.ending?.count,
          "\(device.device.id), killed at event \(kill)")
      }
    }
  }

  /// At the end of a run, the state of the process must equal the fold of all events.
  @Test func theRunIsAFoldOverItsEvents() throws {
    var drill = try Drill(
      Self.plan(30), seed: 9, luck: Drill.Luck(bad: 0.1, linkLoss: 0.3, infrastructure: 0.1))
    try drill.drive()
    let folded = FleetRun(drill.history)
    #expect(folded.devices == drill.run.devices)
    #expect(folded.waves == drill.run.waves)
    #expect(folded.control == drill.run.control && folded.openCount == 0)
  }

  @Test func theAttemptsOfADeviceAreLimited() throws {
    for seed in Self.seeds {
      var drill = try Drill(
        Self.plan(10), seed: seed, luck: Drill.Luck(bad: 0.4, away: 0.4, linkLoss: 0.9))
      try drill.drive()
      let retries = drill.rules.campaign.retries
      #expect(
        drill.run.devices.allSatisfy { $0.attempts <= retries.linkAttempts + retries.sameFailures })
    }
  }

  /// A worker that has disappeared keeps its devices only until the lease expires.
  @Test func aSilentWorkerIsReplaced() throws {
    var drill = try Drill(Self.plan(20), seed: 3, luck: Drill.Luck(silence: 0.4))
    try drill.drive()
    #expect(drill.run.control == .ended(.complete(failed: 0)))
    #expect(drill.history.contains { if case .claimExpired = $0.event { true } else { false } })
  }

  /// 5,000 devices must need at most 10 % more steps per device than 1,000, because no step
  /// processes all devices.
  @Test func theCostOfADeviceDoesNotGrowWithTheFleet() throws {
    func steps(_ count: Int) throws -> Double {
      var drill = try Drill(Self.plan(count), seed: 1, slots: 20, ahead: 20)
      return Double(try drill.drive()) / Double(count)
    }
    let (small, large) = (try steps(1000), try steps(5000))
    #expect(large < small * 1.1)
  }
}
