import OtaflashFleet
import Testing

/// Tests of the failure limit of a wave, and of the devices in flight near the limit.
@Suite struct FailureLimitTests {
  private static let failure = RulesTests.failure
  private static let updated = AttemptEnding.updated(RulesTests.figures)

  private static func play(
    _ count: Int, stop: Int, then action: WaveThresholds.StopAction? = nil, overshoot: Int? = nil
  ) throws -> RulesTests.Play {
    var campaign = RulesTests.campaign(count)
    campaign.retries.sameFailures = 1
    campaign.waves[0].thresholds = WaveThresholds(
      successPercent: 0, stop: .count(stop), stopAction: action, overshoot: overshoot)
    return try RulesTests.Play(campaign)
  }

  /// Devices whose job waits for a worker.
  private static func published(_ play: RulesTests.Play) -> [String] {
    play.run.devices.filter { $0.phase == .published }.map(\.device.id)
  }

  @Test func aWavePausesAtItsLimitAndAnApprovalAcceptsTheFailuresSoFar() throws {
    var play = try Self.play(8, stop: 2, then: .pause)
    play.settle()
    for id in Self.published(play).prefix(2) { play.attempt(id, 1, .failed(Self.failure)) }
    #expect(play.settle() == [.waveJudged(wave: 0, verdict: .stop(failures: 2, of: 8))])
    for id in Self.published(play) { play.hear(.ended(.returned(.recalled)), of: id) }
    #expect(play.settle() == [.runPaused(because: .failureLimit(wave: 0))])
    #expect(play.rules.nextMoment(in: play.run, now: play.now) == nil)
    try play.order(.resume)
    #expect(play.run.waves[0].phase == .open && play.run.waves[0].verdict == nil)
    play.settle()
    let next = Self.published(play)
    #expect(next.count == 4)
    play.attempt(next[0], play.run[next[0]]?.attempts ?? 0, .failed(Self.failure))
    #expect(play.settle().allSatisfy { if case .devicePublished = $0 { true } else { false } })
    play.attempt(next[1], play.run[next[1]]?.attempts ?? 0, .failed(Self.failure))
    #expect(play.settle() == [.waveJudged(wave: 0, verdict: .stop(failures: 4, of: 8))])
  }

  @Test func aRunPausedAtItsLimitEndsWhenAllDevicesAreSettled() throws {
    var play = try Self.play(3, stop: 1, then: .pause)
    play.settle()
    play.attempt(Self.published(play)[0], 1, .failed(Self.failure))
    play.settle()
    for id in Self.published(play) { play.hear(.ended(.returned(.recalled)), of: id) }
    play.settle()
    try play.order(.resume)
    play.settle()
    for id in Self.published(play) { play.attempt(id, 2, Self.updated) }
    #expect(play.settle().last == .runEnded(.complete(failed: 1)))
  }

  @Test func withoutThePauseTheRunEnds() throws {
    var play = try Self.play(8, stop: 1)
    play.settle()
    play.attempt(Self.published(play)[0], 1, .failed(Self.failure))
    play.settle()
    for id in Self.published(play) { play.hear(.ended(.returned(.recalled)), of: id) }
    #expect(play.settle() == [.runEnded(.stopped(wave: 0))])
  }

  /// The pause was requested by an operator and not by the limit, so resuming the run accepts no
  /// failures.
  @Test func aPauseThatWasRequestedBeforeTheVerdictApprovesNothing() throws {
    var play = try Self.play(8, stop: 1, then: .pause)
    play.settle()
    play.attempt(Self.published(play)[0], 1, .failed(Self.failure))
    play.settle()
    try play.order(.pause)
    for id in Self.published(play) { play.hear(.ended(.returned(.recalled)), of: id) }
    try play.order(.resume)
    #expect(play.settle() == [.runPaused(because: .failureLimit(wave: 0))])
  }

  /// Regardless of how the attempts end, no more devices can fail than the limit and the overshoot
  /// permit.
  @Test(arguments: [(1, 0), (1, 2), (3, 0), (3, 1), (5, 3)])
  func devicesInFlightCannotExceedLimitAndOvershoot(
    stop: Int, overshoot: Int
  ) throws {
    var play = try Self.play(30, stop: stop, overshoot: overshoot)
    var claimed: [String] = []
    while true {
      play.settle()
      let published = Self.published(play)
      guard !published.isEmpty else { break }
      for id in published { play.hear(.claimed(worker: "w"), of: id) }
      claimed += published
      #expect(claimed.count <= stop + overshoot, "all of them could fail")
    }
    #expect(claimed.count == stop + overshoot)
    // The run waits for a fact and not for a time.
    #expect(play.rules.nextMoment(in: play.run, now: play.now) == nil)
    play.hear(.ended(Self.updated), of: claimed.removeFirst())
    play.settle()
    #expect(Self.published(play).count == 1, "a success makes room")
  }
}
