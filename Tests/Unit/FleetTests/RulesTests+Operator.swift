import OtaflashFirmware
import OtaflashFleet
import Testing

/// The rules of operator commands and of transfer windows.
extension RulesTests {
  @Test func aPauseRecallsWaitingJobs() throws {
    var play = try Play(Self.campaign(6))
    play.settle()
    play.hear(.claimed(worker: "w"), of: "d0")
    let events = try FleetRules.events(for: .pause, in: play.run)
    play.run.apply(events[0], at: play.now)
    guard case .cancel(let jobs) = play.rules.effects(of: events[0], in: play.run).first else {
      return #expect(Bool(false), "a job is recalled")
    }
    #expect(jobs.count == play.run.published[nil])
    for job in jobs { play.hear(.ended(.returned(.recalled)), of: job.device) }
    #expect(play.settle().isEmpty)
    try play.order(.resume)
    #expect(!play.settle().isEmpty)
  }

  @Test func aCancelledRunEndsWhenNoWorkerIsActive() throws {
    var play = try Play(Self.campaign(2))
    play.settle()
    play.hear(.claimed(worker: "w"), of: "d0")
    try play.order(.cancel)
    #expect(play.settle().isEmpty)
    play.hear(.ended(.returned(.recalled)), of: "d0")
    play.hear(.ended(.returned(.recalled)), of: "d1")
    #expect(play.settle() == [.runEnded(.cancelled)])
  }

  @Test func aRetryReopensTheWave() throws {
    var campaign = Self.campaign(2)
    campaign.retries.sameFailures = 1
    campaign.waves[0].thresholds = WaveThresholds(
      successPercent: 0, stop: .count(9), seenPercent: 0)
    var play = try Play(campaign)
    play.settle()
    play.attempt("d0", 1, .failed(Self.failure))
    play.attempt("d1", 1, .updated(Self.figures))
    play.settle()
    #expect(play.run.control == .ended(.complete(failed: 1)))
    try play.order(.retry([]))
    #expect(play.settle() == [.devicePublished(device: "d0", attempt: 2, verifyFirst: false)])
    play.attempt("d0", 2, .updated(Self.figures))
    #expect(play.settle().last == .runEnded(.complete(failed: 0)))
  }

  @Test func impossibleCommandsAreRefused() throws {
    var play = try Play(Self.campaign(1))
    play.settle()
    #expect(throws: CommandRefusal.nothingToResume) { try play.order(.resume) }
    #expect(throws: CommandRefusal.nothingToRetry) { try play.order(.retry([])) }
    #expect(throws: CommandRefusal.unknownDevice("x")) { try play.order(.retry(["x"])) }
    #expect(throws: CommandRefusal.notSettled("d0")) { try play.order(.retry(["d0"])) }
    try play.order(.pause)
    #expect(throws: CommandRefusal.isPaused) { try play.order(.pause) }
    try play.order(.cancel)
    #expect(throws: CommandRefusal.isBeingCancelled) { try play.order(.resume) }
    play.hear(.ended(.returned(.recalled)), of: "d0")
    play.settle()
    #expect(throws: CommandRefusal.hasEnded) { try play.order(.pause) }
    #expect(throws: CommandRefusal.hasEnded) { try play.order(.cancel) }
  }

  @Test func noAttemptStartsOutsideTheWindow() throws {
    var campaign = Self.campaign(1)
    let opens = Self.start.advanced(by: .seconds(3600))
    campaign.window = TransferWindow(
      atEnd: .breakOff, notBefore: opens, notAfter: opens.advanced(by: .seconds(600)))
    var play = try Play(campaign)
    #expect(play.settle() == [.waveBegan(wave: 0)])
    #expect(play.rules.nextMoment(in: play.run, now: play.now) == opens)
    play.pass(.seconds(3600))
    #expect(play.settle().count == 1)
    play.hear(.claimed(worker: "w"), of: "d0")
    #expect(play.rules.effectsOfClosing(in: play.run, wall: play.now).isEmpty)
    #expect(
      play.rules.nextMoment(in: play.run, now: play.now) == opens.advanced(by: .seconds(600)))
    play.pass(.seconds(600))
    #expect(play.rules.effectsOfClosing(in: play.run, wall: play.now).count == 1)
  }
}
