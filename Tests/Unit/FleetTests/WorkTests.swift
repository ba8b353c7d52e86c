import OtaflashFleet
import Testing

/// Tests of the number of concurrent transfers, and of the choice of an adapter.
@Suite struct WorkTests {
  /// An adapter, described by the total rate of a given number of links in bytes per second.
  struct Profile: Sendable, CustomTestStringConvertible {
    let name: String
    let rate: @Sendable (Int) -> Double

    init(_ name: String, _ rate: @escaping @Sendable (Int) -> Double) {
      self.name = name
      self.rate = rate
    }

    var testDescription: String { name }
  }

  static let profiles = [
    Profile("a radio that one link fills") { _ in 60_000 },
    Profile("a radio that two links fill") { min(Double($0) * 30_000, 60_000) },
    Profile("a radio that four links fill") { min(Double($0) * 15_000, 60_000) },
    Profile("links that wait for their answers") { min(Double($0) * 4000, 64_000) },
    Profile("each link slows the others slightly") { Double($0) * 20_000 / (1 + 0.1 * Double($0)) },
    Profile("three links and no more") { $0 <= 3 ? Double($0) * 10_000 : 30_000 / Double($0) },
    Profile("seven links and no more") { $0 <= 7 ? Double($0) * 8000 : 20_000 },
    Profile("a slow rise that never ends") { 10_000 * Double($0).squareRoot() },
    Profile("a peak at six") { 50_000 - 1000 * Double(($0 - 6) * ($0 - 6)) },
    Profile("a peak at twelve") { 60_000 - 400 * Double(($0 - 12) * ($0 - 12)) },
  ]

  /// After 40 samples, the mean rate of the next 40 samples is at least nine tenths of the rate of
  /// the best fixed number.
  @Test(arguments: profiles)
  func theLearnedNumberIsWithinATenthOfTheBest(_ profile: Profile) throws {
    for seed in UInt64(1)...20 {
      var state = seed
      var learner = ParallelismLearner(maximum: 16)
      var rates: [Double] = []
      for _ in 0..<80 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let noise = 0.98 + 0.04 * Double(state >> 11) / Double(UInt64.max >> 11)
        let rate = profile.rate(learner.limit)
        rates.append(rate)
        learner.sampled(rate: rate * noise, losses: 0)
      }
      let best = try #require((1...16).map(profile.rate).max())
      let later = rates.dropFirst(40)
      let mean = later.reduce(0, +) / Double(later.count)
      #expect(mean >= best * 0.9, "seed \(seed): \(Int(mean)) of \(Int(best))")
    }
  }

  @Test func lostLinksLowerTheNumberImmediately() {
    var learner = ParallelismLearner(start: 5, maximum: 16)
    learner.sampled(rate: 50_000, losses: 1)
    #expect(learner.limit == 4)
    for _ in 0..<10 { learner.sampled(rate: 50_000, losses: 1) }
    #expect(learner.limit == 1, "and never below one")
  }

  @Test func theNumberStaysWithinItsLimits() {
    var learner = ParallelismLearner(maximum: 3)
    for rate in 1...200 {
      learner.sampled(rate: Double(rate) * 10_000, losses: rate % 31 == 0 ? 1 : 0)
      #expect((1...3).contains(learner.limit))
    }
  }

  @Test func theAdapterWithTheBestSignalAndAFreePlaceIsChosen() {
    let loads = [
      AdapterLoad(id: "a", busy: 0, places: 2), AdapterLoad(id: "b", busy: 1, places: 2),
      AdapterLoad(id: "c", busy: 2, places: 2),
    ]
    func choice(_ hearing: (String, Int?)...) -> AdapterChoice {
      AdapterChoice(
        hearing: hearing.map { AdapterHearing(adapter: $0.0, rssi: $0.1) }, loads: loads)
    }
    #expect(choice(("a", -70), ("b", -50), ("c", -30)) == .on("b"))
    #expect(choice(("a", -52), ("b", -50)) == .on("a"), "a transfer weighs three decibels")
    #expect(choice(("a", nil), ("b", nil)) == .on("a"))
    #expect(choice(("c", -30)) == .full)
    #expect(choice() == .notHeard)
    #expect(choice(("gone", -30)) == .notHeard)
    #expect(choice(("a", -60), ("b", -57)) == .on("a"), "equal adapters in order")
  }
}
