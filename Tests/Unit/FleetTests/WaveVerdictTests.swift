import OtaflashFleet
import Testing

@Suite struct WaveVerdictTests {
  static func tally(_ size: Int, _ succeeded: Int, _ failed: Int, _ unseen: Int, _ neutral: Int)
    -> WaveTally
  {
    var tally = WaveTally(size: size)
    (tally.succeeded, tally.failed, tally.unseen, tally.neutral) =
      (succeeded, failed, unseen, neutral)
    return tally
  }

  /// The numbers are size, succeeded, failed, unseen and neutral; the rule is success 80 %, stop at
  /// 20 %, seen 50 %.
  @Test(arguments: [
    ([10, 10, 0, 0, 0], WaveVerdict.continue), ([10, 9, 1, 0, 0], .continue),
    ([10, 8, 2, 0, 0], .stop(failures: 2, of: 10)),
    ([10, 5, 0, 5, 0], .continue), ([10, 4, 0, 6, 0], .inconclusive(seen: 4, of: 10)),
    ([10, 0, 0, 10, 0], .inconclusive(seen: 0, of: 10)),
    // Infrastructure failures do not count. If there are too many of them, too few devices have an
    // outcome, and the verdict is inconclusive.
    ([10, 5, 0, 0, 5], .continue), ([10, 4, 0, 0, 6], .inconclusive(seen: 4, of: 10)),
    // Stop takes precedence over inconclusive.
    ([10, 1, 2, 7, 0], .stop(failures: 2, of: 10)),
    ([1, 1, 0, 0, 0], .continue), ([1, 0, 1, 0, 0], .stop(failures: 1, of: 1)),
    ([1, 0, 0, 1, 0], .inconclusive(seen: 0, of: 1)),
  ])
  func theVerdictFollowsFromTheNumbers(_ numbers: [Int], _ verdict: WaveVerdict) {
    let tally = Self.tally(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
    #expect(tally.verdict(by: WaveThresholds()) == verdict)
  }

  @Test func successIsAShareOfTheDevicesWithAnOutcome() {
    let thresholds = WaveThresholds(successPercent: 90, stop: .count(50), seenPercent: 10)
    #expect(Self.tally(100, 18, 2, 80, 0).verdict(by: thresholds) == .continue)
    #expect(
      Self.tally(100, 17, 3, 80, 0).verdict(by: thresholds) == .stop(failures: 3, of: 100))
  }

  @Test func aShareToStopAtIsAtLeastOneDevice() {
    #expect(WaveThresholds.Limit.percent(1).devices(of: 5) == 1)
    #expect(WaveThresholds.Limit.percent(20).devices(of: 11) == 3)
    #expect(WaveThresholds.Limit.count(7).devices(of: 5) == 7)
  }

  /// A verdict to stop is final, which is tested for 5,000 orders of outcomes.
  @Test func aVerdictToStopIsFinal() {
    var state: UInt64 = 3
    func draw(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for _ in 0..<5000 {
      let size = 1 + draw(30)
      let thresholds = WaveThresholds(
        successPercent: draw(101),
        stop: draw(2) == 0 ? .count(1 + draw(9)) : .percent(1 + draw(99)),
        seenPercent: draw(101))
      var tally = WaveTally(size: size)
      var stopped = false
      for _ in 0..<size {
        switch draw(4) {
        case 0: tally.failed += 1
        case 1: tally.unseen += 1
        case 2: tally.neutral += 1
        default: tally.succeeded += 1
        }
        stopped = stopped || tally.reachesStop(of: thresholds)
        #expect(tally.reachesStop(of: thresholds) == stopped)
      }
      if stopped, case .stop = tally.verdict(by: thresholds) {} else { #expect(!stopped) }
    }
  }

  @Test func delaysGrowWithinTheirLimits() {
    let retries = RetryPolicy(
      firstDelay: .seconds(4), longestDelay: .seconds(60), jitter: 0.5)
    let whole = (1...8).map { retries.delay(afterFailure: $0, random: 0) }
    #expect(whole == [4, 8, 16, 32, 60, 60, 60, 60].map { .seconds($0) })
    #expect(retries.delay(afterFailure: 1, random: 1) == .seconds(2))
    #expect(retries.delay(afterFailure: 10_000, random: 0) == .seconds(60))
  }
}
