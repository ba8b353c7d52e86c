#if Sites
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetReport
import OtaflashFleetSamples
import Testing

@testable import OtaflashSitesPage

@Suite struct ModelTests {
  private static let samples: [SampleRun] = (1...4).map { seed in
    var sample = SampleRun(devices: 30 * Int(seed), adapters: 3)
    sample.seed = UInt64(seed)
    sample.bad = 0.1
    sample.absent = 0.1
    sample.sites = ["Berlin", "Lisbon", nil]
    return sample
  }

  /// An index that follows events equals a new index of the run, after every seventh event and
  /// after the last events.
  @Test(arguments: samples.indices)
  func anIndexFollowsEvents(_ number: Int) {
    let history = Self.samples[number].history()
    let first = history.prefix { if case .waveBegan = $0.event { false } else { true } }
    var run = FleetRun(Array(first))
    var index = RunIndex(run)
    for (place, recorded) in history.dropFirst(first.count).enumerated() {
      run.apply(recorded.event, at: recorded.at)
      _ = index.apply([recorded.event], at: run.lastAt)
      guard place % 7 == 0 || place > history.count - first.count - 3 else { continue }
      let other = RunIndex(run)
      #expect(index.counts == other.counts)
      #expect(index.waveCounts == other.waveCounts)
      #expect(index.causes == other.causes)
      #expect(index.stateWords == other.stateWords)
    }
    #expect(index.hasEnded)
  }

  @Test func aRetryChangesTheIndex() throws {
    var sample = Self.samples[1]
    sample.bad = 0.3
    let run = FleetRun(sample.history())
    var (index, other) = (RunIndex(run), run)
    let events = try FleetRules.events(for: .retry([]), in: run)
    let changed = index.apply(events, at: run.lastAt)
    for event in events { other.apply(event, at: run.lastAt) }
    // The run is open again, so all devices may have changed.
    #expect(changed.count == run.devices.count)
    #expect(index.counts == RunIndex(other).counts)
    #expect(index.counts[.waiting] >= events.count)
  }

  @Test func theIndexAgreesWithTheReport() throws {
    let history = Self.samples[2].history()
    let report = try #require(RunReport(history))
    let index = RunIndex(FleetRun(history))
    #expect(index.counts == report.counts)
    #expect(index.stateWords == report.stateWords)
    #expect(index.waves == report.waves)
    for group in report.failures where !group.devices.isEmpty {
      #expect(index.causes[group.cause] == group.devices.count)
    }
  }

  // MARK: Tables

  @Test(arguments: DeviceQuery.Order.allCases, [false, true])
  func pagesAreThePartsOfOneOrder(_ order: DeviceQuery.Order, isDescending: Bool) {
    var index = RunIndex(FleetRun(Self.samples[3].history()))
    var query = DeviceQuery()
    (query.order, query.isDescending, query.size) = (order, isDescending, 7)
    var ids: [String] = []
    for page in 1...index.page(query).pages {
      query.page = page
      ids += index.page(query).rows.map(\.device.id)
    }
    #expect(ids.count == index.deviceCount)
    #expect(Set(ids).count == index.deviceCount)
    query.page = 10_000
    #expect(index.page(query).page == index.page(query).pages)
    if order == .name, !isDescending {
      query.page = 1
      #expect(index.page(query).rows.map(\.label) == (1...7).map { "door \($0)" })
    }
  }

  @Test func filtersSelectTheRightDevices() {
    var index = RunIndex(FleetRun(Self.samples[3].history()))
    let all = (0..<index.deviceCount).map { index.device(at: $0) }
    func ids(_ change: (inout DeviceQuery) -> Void) -> Set<String> {
      var query = DeviceQuery()
      query.size = 200
      change(&query)
      return Set(index.page(query).rows.map(\.device.id))
    }
    for outcome in Outcome.allCases {
      let found = ids { $0.outcome = outcome }
      #expect(found == Set(all.filter { $0.outcome == outcome }.map(\.device.id)))
    }
    #expect(ids { $0.site = "Lisbon" }.count == all.count { $0.device.site == "Lisbon" })
    #expect(ids { $0.site = "Paris" }.isEmpty)
    #expect(ids { $0.board = "door-v1" }.count == all.count { $0.device.board == "door-v1" })
    #expect(ids { $0.wave = 0 }.count == all.count { $0.wave == 0 })
    #expect(
      ids { $0.text = "DOOR 10" }
        == Set(all.filter { $0.label.hasPrefix("door 10") }.map(\.device.id)))
    #expect(ids { $0.text = "c0:ff:ee:00:00:05" } == ["C0:FF:EE:00:00:05"])
    #expect(ids { $0.text = "x'; DROP TABLE" }.isEmpty)
  }

  @Test(arguments: [
    ("door 2", "door 10"), ("door 9", "door 010"), ("Door 1", "door 2"), ("a", "b"), ("", "a"),
    ("hci0", "hci00001"), ("1", "a"), ("a1b2", "a1b10"),
  ])
  func numbersInNamesCompareAsNumbers(_ pair: (String, String)) {
    #expect(NaturalText(pair.0) < NaturalText(pair.1))
    #expect(!(NaturalText(pair.1) < NaturalText(pair.0)))
  }

  @Test(arguments: [
    ("door 12", "DOOR", true), ("a", "", true), ("abc", "bc", true), ("abc", "bd", false),
    ("ab", "abc", false), ("aab", "ab", true), ("Ünal", "ünal", true),
  ])
  func textsAreFoundInAnyCase(_ text: (String, String, Bool)) {
    #expect(SearchText(text.0).contains(SearchText(text.1)) == text.2)
  }

  // MARK: The inventory

  @Test func theInventoryKnowsTheLastVersion() throws {
    let inventory = DeviceInventory()
    let runs = Self.samples.map { FleetRun($0.history()) }
    // The order of recording does not matter.
    for (number, run) in runs.enumerated().reversed() {
      var beginning = try #require(run.beginning)
      beginning.id = "run\(number)"
      inventory.record(
        run.devices.map { DeviceReport($0, hasEnded: true) }, of: beginning,
        began: WallClockTime(milliseconds: Int64(number)))
    }
    #expect(inventory.extent.devices == 120)
    for id in runs[0].devices.map(\.device.id) {
      let device = try #require(inventory[id])
      #expect(device.entries.map(\.run) == ["run3", "run2", "run1", "run0"])
      let version = runs.reversed().lazy.compactMap {
        $0[id].flatMap {
          DeviceReport($0, hasEnded: true).to
        }
      }.first
      #expect(device.version == version)
    }
    let groups = inventory.groups
    #expect(groups.reduce(0) { $0 + $1.devices } == 120)
    for group in groups {
      var query = InventoryQuery()
      query.board = group.key.board
      query.version = VersionGroup.words(group.key.version)
      #expect(inventory.page(query).total == group.devices)
    }
  }

  @Test(arguments: InventoryQuery.Order.allCases)
  func theInventoryHasPages(_ order: InventoryQuery.Order) throws {
    let inventory = DeviceInventory()
    let run = FleetRun(Self.samples[3].history())
    inventory.record(
      run.devices.map { DeviceReport($0, hasEnded: true) }, of: try #require(run.beginning),
      began: SampleRun.began)
    var query = InventoryQuery()
    (query.order, query.size) = (order, 9)
    var ids: Set<String> = []
    for page in 1...inventory.page(query).pages {
      query.page = page
      ids.formUnion(inventory.page(query).rows.map(\.id))
    }
    #expect(ids.count == 120)
  }

  // MARK: Effects

  @Test func effectsAreStatedForEachState() throws {
    let history = Self.samples[3].history()
    var run = FleetRun()
    var seen: Set<RunAction> = []
    for recorded in history {
      run.apply(recorded.event, at: recorded.at)
      guard !run.waves.isEmpty else { continue }
      let index = RunIndex(run)
      for action in index.actions {
        seen.insert(action)
        let effect = try index.effect(of: action)
        #expect(!effect.sentences.isEmpty)
        #expect(effect.sentences.allSatisfy { $0.hasSuffix(".") && !$0.contains("  ") })
      }
    }
    #expect(seen.isSuperset(of: [.approve, .pause, .cancel, .retry]))
    #expect(RunIndex(run).actions == [.retry])
  }

  @Test func aPausedRunIsResumedAndAWaitingRunApproved() throws {
    let history = Self.samples[3].history()
    let place = try #require(
      history.firstIndex { if case .approvalAwaited = $0.event { true } else { false } })
    var run = FleetRun(Array(history[...place]))
    #expect(RunIndex(run).actions.contains(.approve))
    #expect(!RunIndex(run).actions.contains(.resume))
    #expect(RunIndex(run).needsOperator)
    #expect(throws: CommandRefusal.self) { try RunIndex(run).effect(of: .resume) }
    let approval = try RunIndex(run).effect(of: .approve)
    #expect(approval.sentences.last?.contains("Wave half starts: 54 devices") == true)
    run = FleetRun(Array(history[..<place]))
    run.apply(.runPaused(because: .asked), at: run.lastAt)
    #expect(RunIndex(run).actions.contains(.resume))
    #expect(!RunIndex(run).actions.contains(.approve))
  }
}
#endif
