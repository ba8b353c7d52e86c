import OtaflashFirmware
import OtaflashFleet
import OtaflashSimulation
import OtaflashUpdate
import Synchronization
import Testing

@testable import OtaflashFleetForecast

@Suite struct FleetForecastTests {
  static let lenient = WaveThresholds(successPercent: 0, stop: .percent(100), seenPercent: 0)

  static func trial(
    _ fleet: String, bytes: Int = 20_000,
    waves: [Wave] = [Wave("all", .rest, thresholds: lenient)],
    _ change: (inout Campaign) -> Void = { _ in }
  ) throws -> CampaignSimulation {
    let profile = try FleetProfile(parsing: "sim-fleet:\(fleet)")
    var campaign = Campaign(
      name: "test", devices: profile.boards.map { FleetDevice(id: $0) },
      images: [nil: "app.bin"], waves: waves)
    change(&campaign)
    return CampaignSimulation(
      try CampaignPlan(campaign, now: WallClockTime(milliseconds: 0)), on: profile,
      sizes: ["app.bin": bytes])
  }

  @Test func theSameSeedsYieldTheSameForecast() async throws {
    let trial = try Self.trial("12?adapters=2&loss=2%&revert=10%&away=10%")
    let first = try await trial.forecast(seeds: 4)
    let second = try await trial.forecast(seeds: 4)
    #expect(first == second)
    #expect(first.devices == 12 && first.seeds == 4 && first.whatIfSeeds == 4)
    #expect(first.duration.range == nil, "four runs are too few for a range")
  }

  /// The first run is completed regardless of the time limit; runs that have not ended by then are
  /// omitted.
  @Test func aForecastEndsAtItsTimeLimit() async throws {
    let trial = try Self.trial("12?adapters=2&loss=2%")
    let whole = try await trial.forecast(seeds: 1, changes: [])
    let shares = Mutex<[Double]>([])
    let cut = try await trial.forecast(
      seeds: 50, isTimeOver: { true }, progress: { now in shares.withLock { $0.append(now.share) } }
    )
    #expect(cut.seeds < 50 && cut.seeds + cut.runsLeftOut == 50)
    #expect(cut.whatIf.isEmpty && cut.rowsLeftOut >= 5)
    if cut.seeds == 1 { #expect(cut.duration == whole.duration && cut.expected == whole.expected) }
    #expect(shares.withLock { $0.count >= 12 && $0.allSatisfy { (0...1).contains($0) } })
    #expect(whole.runsLeftOut == 0 && whole.rowsLeftOut == 0)
  }

  @Test func aRangeNeedsTwentyRuns() {
    let few = FleetForecast.Spread((1...19).map { .seconds($0) })
    #expect(few.range == nil && few.median == .seconds(10))
    let enough = FleetForecast.Spread((1...20).map { .seconds($0) })
    #expect(enough.range == .seconds(1) ... .seconds(20))
    let many = FleetForecast.Spread((1...99).shuffled().map { .seconds($0) })
    #expect(many.range == .seconds(5) ... .seconds(95))
  }

  /// The frequency with which another run is outside of the range of 20 runs: two of 21 cases,
  /// counted over all positions that the other run may have among them.
  @Test func theRangeIsExceededWithItsStatedFrequency() {
    let outside = (1...21).count { other in
      let runs = (1...21).filter { $0 != other }.map { Duration.seconds($0) }
      return !(FleetForecast.Spread(runs).range?.contains(.seconds(other)) ?? true)
    }
    #expect(outside == 2)
  }

  /// The duration of the same campaign with seeds that the forecast has not used.
  @Test(arguments: [
    "16?adapters=2&loss=1%", "12?adapters=1&loss=3%&hang=4%", "24?kinds=fast&adapters=3&revert=5%",
  ])
  func theCampaignTakesWhatWasForecast(_ fleet: String) async throws {
    let trial = try Self.trial(fleet)
    let forecast = try await trial.forecast(seeds: 11, changes: [])
    let runs = try (101...111).map { try trial.run(seed: $0).took }.sorted()
    let ratio = runs[5] / forecast.duration.median
    #expect(ratio > 0.9 && ratio < 1.1, "\(runs[5]) instead of \(forecast.duration.median)")
  }

  /// The sizes of patches are unknown. If patches are permitted or required, the simulation
  /// therefore sends complete images, and `countsWholeImages` is set.
  @Test(arguments: DeltaPolicy.allCases)
  func completeImagesInTheCountAreReported(_ delta: DeltaPolicy) async throws {
    let trial = try Self.trial("3?kinds=fast") { $0.flash.delta = delta }
    #expect(trial.countsWholeImages == (delta != .never))
    let forecast = try await trial.forecast(seeds: 1, changes: [])
    #expect(forecast.expected.map(\.ending) == [.updated] && forecast.savings.devices == 0)
  }

  @Test func theOutcomesOfDevicesAreForecast() async throws {
    let trial = try Self.trial("20?adapters=2&revert=10%&away=5%&hang=5%&brick=5%")
    let forecast = try await trial.forecast(seeds: 3, changes: [])
    let expected = Dictionary(
      uniqueKeysWithValues: forecast.expected.map { ($0.ending, $0.devices) })
    #expect(expected[.updated] == 15)
    #expect(expected[.failed(.device, code: "reverted")] == 2)
    #expect(expected[.absent] == 1)
    #expect(forecast.expected.first?.ending == .updated && forecast.successes == 15)
    #expect(forecast.expected.reduce(0) { $0 + $1.devices } == 20)
    #expect(forecast.stoppedShare == 0 && forecast.pausedShare == 0)
  }

  @Test func aStopOfTheCampaignIsForecast() async throws {
    let trial = try Self.trial(
      "10?revert=50%", waves: [Wave("canary", .count(4)), Wave("rest", .rest)])
    let forecast = try await trial.forecast(seeds: 5, changes: [])
    #expect(forecast.stoppedShare > 0.7)
  }

  // MARK: Changes

  @Test func changesHaveTheExpectedEffect() async throws {
    let trial = try Self.trial("24?kinds=fast&adapters=2&loss=4%&phy=1M&mtu=247", bytes: 40_000) {
      $0.flash.writing = .withoutResponse
    }
    let forecast = try await trial.forecast(seeds: 3)
    let ratios = Dictionary(uniqueKeysWithValues: forecast.whatIf.map { ($0.change, $0.ratio) })
    #expect(ratios.count >= 5)
    #expect(try #require(ratios[.adapters(3)]) < 1.02)
    #expect(try #require(ratios[.adapters(1)]) > 1.2)
    #expect(try #require(ratios[.phy(.le2M)]) < 1.02)
    #expect(try #require(ratios[.withResponse]) > 0.98)
    #expect(try #require(ratios[.oneAtATime]) > 1.1)
    #expect(try #require(ratios[.largerPackets(mtu: 512)]) < 1.05)
    #expect(try #require(ratios[.loss(0.02)]) < 1.05)
  }

  @Test func atLeastFiveChangesAreSimulated() async throws {
    let trial = try Self.trial("2?kinds=fast")
    #expect(try await trial.forecast(seeds: 1).whatIf.count >= 5)
  }

  // MARK: Bottlenecks

  @Test func theBottleneckIsReported() async throws {
    func limit(
      _ fleet: String, bytes: Int = 20_000,
      waves: [Wave] = [Wave("all", .rest, thresholds: Self.lenient)],
      _ change: (inout Campaign) -> Void = { _ in }
    ) async throws -> FleetForecast.Limit {
      try await Self.trial(fleet, bytes: bytes, waves: waves, change).forecast(
        seeds: 1, changes: []
      ).limit
    }
    #expect(
      try await limit("12?kinds=fast&ring=60K", bytes: 200_000) {
        $0.flash.writing = .withoutResponse
        $0.parallel = 6
      } == .air)
    #expect(try await limit("6?kinds=fast") { $0.parallel = 1 } == .links)
    #expect(try await limit("6?kinds=erase-400ms", bytes: 90_000) == .deviceFlash)
    #expect(try await limit("6?away=100%") == .retries)
    let waves = [
      Wave("first", .count(2), thresholds: Self.lenient, soak: .seconds(3600)),
      Wave("all", .rest, thresholds: Self.lenient),
    ]
    #expect(try await limit("6", waves: waves) == .soak)
  }

  /// No task polls during the soak time.
  @Test func aLongSoakDoesNotDelayTheForecast() throws {
    let waves = [
      Wave("first", .count(1), thresholds: Self.lenient, soak: .seconds(30 * 86_400)),
      Wave("all", .rest, thresholds: Self.lenient),
    ]
    let began = ContinuousClock.now
    let outcome = try Self.trial("2?kinds=fast", waves: waves).run(seed: 1)
    #expect(outcome.took > .seconds(30 * 86_400) && outcome.took < .seconds(31 * 86_400))
    #expect(ContinuousClock.now - began < .seconds(20))
  }

  /// Each kind of board receives its image, and boards with several programs keep them while they
  /// have no power between attempts.
  @Test func boardsOfSeveralKindsAreUpdated() throws {
    let profile = try FleetProfile(parsing: "sim-fleet:8?kinds=fast:1/smp:1&adapters=2&slot=96K")
    var campaign = Campaign(
      name: "mixed",
      devices: (0..<8).map { FleetDevice(id: profile.id(of: $0), board: profile.board($0).kind) },
      images: ["fast": "fast.bin", "smp": "smp.img"])
    campaign.flash.allowUnknown = true
    let version = FirmwareVersion(2, 0, 0)
    let smp = SampleImage.mcuboot(Array(repeating: 7, count: 20_000), version: version)
    let trial = CampaignSimulation(
      try CampaignPlan(campaign, now: WallClockTime(milliseconds: 0)), on: profile,
      packages: [
        "fast.bin": .standIn(bytes: 20_000),
        "smp.img": try .decode(name: "smp.img", bytes: smp),
      ])
    let outcome = try trial.run(seed: 1)
    #expect(outcome.run.devices.allSatisfy { $0.ending == .updated })
    let versions = outcome.truth.values.map(\.version)
    #expect(versions.count { $0 == version } == 4)
    #expect(versions.count { $0 == FirmwareVersion(255, 0, 0) } == 4)
  }

  @Test func approvalsAreCountedWithoutWaits() async throws {
    let waves = [
      Wave("first", .count(2), needsApproval: true), Wave("all", .rest, needsApproval: true),
    ]
    let forecast = try await Self.trial("6", waves: waves).forecast(seeds: 1, changes: [])
    #expect(forecast.approvals == 1 && forecast.successes == 6)
  }

  /// The devices are not boards of the fleet, so only their number is known.
  @Test func realDevicesHaveSubstitutes() async throws {
    var campaign = Campaign(
      name: "test", devices: (0..<5).map { FleetDevice(id: "C0:FF:EE:00:00:0\($0)", site: "lab") },
      images: [nil: "app.bin"])
    campaign.flash.writing = .withoutResponse
    let trial = CampaignSimulation(
      try CampaignPlan(campaign, now: WallClockTime(milliseconds: 0)),
      on: try FleetProfile(parsing: "1?adapters=2&loss=1%"), sizes: ["app.bin": 600_000])
    let forecast = try await trial.forecast(seeds: 2, changes: [])
    #expect(forecast.devices == 5 && forecast.successes == 5)
    #expect(forecast.airUse.map(\.adapter) == ["hci0", "hci1"])
  }
}
