import OtaflashFirmware
import OtaflashFleet
import Testing

@Suite struct CampaignPlanTests {
  static let now = WallClockTime(milliseconds: 1_800_000_000_000)

  static func campaign(
    _ count: Int, waves: [Wave] = [Wave("all", .rest)]
  ) -> Campaign {
    Campaign(
      name: "c", devices: (0..<count).map { FleetDevice(id: "d\($0)", name: "n\($0)") },
      images: [nil: "app.bin"], waves: waves)
  }

  static func sizes(_ waves: Wave..., of count: Int) throws -> [Int] {
    try CampaignPlan(campaign(count, waves: waves), now: now).waves.map(\.devices.count)
  }

  @Test func sharesReferToAllDevicesAndAreCumulative() throws {
    #expect(
      try Self.sizes(
        Wave("canary", .count(3)), Wave("a", .percent(10)), Wave("b", .percent(50)),
        Wave("c", .percent(100)), of: 100) == [3, 7, 40, 50])
    #expect(try Self.sizes(Wave("a", .percent(1)), Wave("b", .rest), of: 7) == [1, 6])
    #expect(
      try Self.sizes(
        Wave("a", .named(["d3", "n5"])), Wave("b", .percent(60)), Wave("c", .rest), of: 10)
        == [2, 4, 4])
  }

  @Test func everyDeviceIsInOneWave() throws {
    let waves = [
      Wave("named", .named(["n7", "d2"])), Wave("some", .percent(33)), Wave("all", .rest),
    ]
    for seed in UInt64(0)..<50 {
      var campaign = Self.campaign(101, waves: waves)
      campaign.seed = seed
      let plan = try CampaignPlan(campaign, now: Self.now)
      let ids = plan.waves.flatMap { $0.devices.map(\.id) }
      #expect(ids.count == 101 && Set(ids).count == 101)
      #expect(plan.waves[0].devices.map(\.id) == ["d7", "d2"])
    }
  }

  /// The order does not follow the list, because the first devices of a list are often at the same
  /// site.
  @Test func theOrderDependsOnlyOnTheSeed() throws {
    var campaign = Self.campaign(50, waves: [Wave("canary", .count(5)), Wave("all", .rest)])
    let first = try CampaignPlan(campaign, now: Self.now)
    #expect(try CampaignPlan(campaign, now: Self.now) == first)
    #expect(first.waves[0].devices.map(\.id) != ["d0", "d1", "d2", "d3", "d4"])
    campaign.seed = 2
    #expect(try CampaignPlan(campaign, now: Self.now).waves != first.waves)
  }

  /// Each device must be equally likely to be in the canary wave: with 2,000 seeds and 10 devices,
  /// within 30 % of the expected 200.
  @Test func everyDeviceIsEquallyLikelyToBeACanary() throws {
    var campaign = Self.campaign(10, waves: [Wave("canary", .count(1)), Wave("all", .rest)])
    var counts: [String: Int] = [:]
    for seed in UInt64(0)..<2000 {
      campaign.seed = seed
      counts[try CampaignPlan(campaign, now: Self.now).waves[0].devices[0].id, default: 0] += 1
    }
    #expect(counts.count == 10 && counts.values.allSatisfy { (140...260).contains($0) })
  }

  @Test func theBoardDeterminesTheImage() throws {
    var campaign = Self.campaign(2)
    campaign.devices[0].board = "door"
    campaign.images = ["door": "door.bin", nil: "other.bin"]
    #expect(campaign.devices.map { campaign.image(for: $0) } == ["door.bin", "other.bin"])
  }

  @Test func excludedDevicesAreReported() throws {
    var campaign = Self.campaign(4)
    campaign.selector = try DeviceExpression(parsing: "not name=n2")
    let plan = try CampaignPlan(campaign, now: Self.now)
    #expect(plan.deviceCount == 3 && plan.leftOut.map(\.id) == ["d2"])
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    let fault: CampaignFault
    let change: @Sendable (inout Campaign) -> Void

    init(_ fault: CampaignFault, _ change: @escaping @Sendable (inout Campaign) -> Void) {
      self.fault = fault
      self.change = change
    }

    var testDescription: String { "\(fault)" }
  }

  static let refusals = [
    Refusal(.noDevices) { $0.devices = [] },
    Refusal(.tooManyDevices(count: 100_001, limit: 100_000)) {
      $0.devices = (0...100_000).map { FleetDevice(id: "\($0)") }
    },
    Refusal(.duplicateDevice(id: "d1")) { $0.devices[2] = FleetDevice(id: "d1") },
    Refusal(.duplicateDevice(id: "c0:ff:ee:00:00:01/random")) {
      $0.devices[1] = FleetDevice(id: "C0:FF:EE:00:00:01")
      $0.devices[2] = FleetDevice(id: "c0:ff:ee:00:00:01/random")
    },
    Refusal(.ambiguousName("n1")) { $0.devices[2].name = "n1" },
    // The id of one device is the name of another device.
    Refusal(.ambiguousName("d1")) { $0.devices[2].name = "d1" },
    Refusal(.noImage(device: "d0", board: nil)) { $0.images = [:] },
    Refusal(.noImage(device: "d0", board: "x")) {
      $0.devices[0].board = "x"
      $0.devices[1].board = "y"
      $0.images = ["y": "y.bin"]
    },
    Refusal(.imageForNoDevice(board: "z")) { $0.images["z"] = "z.bin" },
    Refusal(.noSelection) { $0.selector = .tag("unknown") },
    Refusal(.undecided(devices: ["d0", "d1", "d2", "d3"], facts: ["version"])) {
      $0.selector = .compare(.version, .less, .version(FirmwareVersion(1, 0, 0)))
    },
    Refusal(.noWaves) { $0.waves = [] },
    Refusal(.tooManyWaves(count: 101, limit: 100)) {
      $0.waves = (0...100).map { Wave("\($0)", .count(1)) }
    },
    Refusal(.duplicateWave(name: "a")) { $0.waves = [Wave("a", .count(1)), Wave("a", .rest)] },
    Refusal(.emptyWave(name: "b")) { $0.waves = [Wave("a", .count(4)), Wave("b", .rest)] },
    Refusal(.emptyWave(name: "a")) { $0.waves = [Wave("a", .named([])), Wave("b", .rest)] },
    Refusal(.shrinkingWave(name: "b", percent: 50)) {
      $0.waves = [Wave("a", .percent(50)), Wave("b", .percent(50)), Wave("c", .rest)]
    },
    Refusal(.shrinkingWave(name: "b", percent: 25)) {
      $0.waves = [Wave("a", .count(2)), Wave("b", .percent(25)), Wave("c", .rest)]
    },
    Refusal(.unknownMember(wave: "a", member: "x")) {
      $0.waves = [Wave("a", .named(["x"])), Wave("b", .rest)]
    },
    Refusal(.memberTwice(wave: "b", member: "n1")) {
      $0.waves = [Wave("a", .named(["d1"])), Wave("b", .named(["n1"])), Wave("c", .rest)]
    },
    Refusal(.tooFewDevices(wave: "b", wanted: 2, left: 1)) {
      $0.waves = [Wave("a", .count(3)), Wave("b", .count(2))]
    },
    Refusal(.uncovered(count: 2)) { $0.waves = [Wave("a", .percent(50))] },
    Refusal(.valueOutOfRange(what: "parallel", value: 65, range: 1...64)) { $0.parallel = 65 },
    Refusal(.valueOutOfRange(what: "mtu", value: 22, range: 23...517)) { $0.flash.mtu = 22 },
    Refusal(.valueOutOfRange(what: "link attempts", value: 0, range: 1...1000)) {
      $0.retries.linkAttempts = 0
    },
    Refusal(.valueOutOfRange(what: "stop of wave 'all'", value: 101, range: 1...100)) {
      $0.waves[0].thresholds.stop = .percent(101)
    },
    Refusal(.valueOutOfRange(what: "success of wave 'all'", value: 101, range: 0...100)) {
      $0.waves[0].thresholds.successPercent = 101
    },
    Refusal(.valueOutOfRange(what: "the share of wave 'all'", value: 0, range: 1...100)) {
      $0.waves[0].members = .percent(0)
    },
    Refusal(.windowInThePast(site: nil)) { $0.window = TransferWindow(notAfter: now) },
  ]

  @Test(arguments: refusals)
  func impossibleCampaignsAreRefused(_ refusal: Refusal) {
    var campaign = Self.campaign(4)
    refusal.change(&campaign)
    #expect(throws: refusal.fault) { try CampaignPlan(campaign, now: Self.now) }
    #expect(!refusal.fault.description.isEmpty)
  }
}
