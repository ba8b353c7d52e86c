import OtaflashFleet
import Testing

/// Facts that arrive late or twice, and coordinators that restart while workers continue.
@Suite struct LateFactTests {
  private typealias Fact = RulesTests.Fact

  /// Returns a run with a claimed device.
  private static func play() throws -> RulesTests.Play {
    var play = try RulesTests.Play(RulesTests.campaign(2))
    play.settle()
    play.hear(.claimed(worker: "w"), of: "d0")
    return play
  }

  private static func events(
    _ event: FleetEvent, in play: RulesTests.Play
  ) -> [FleetEvent] {
    let job = UpdateJob.ID(run: "r", device: "d0", attempt: 1)
    return play.rules.events(
      after: JobFact(number: 1, job: job, event: event), in: play.run, now: play.now, random: 0)
  }

  private static func apply(_ events: [FleetEvent], to play: inout RulesTests.Play) {
    for event in events { play.run.apply(event, at: play.now) }
  }

  @Test func aFactThatIsDeliveredTwiceIsRecordedOnce() throws {
    var play = try Self.play()
    #expect(Self.events(.deviceClaimed(device: "d0", attempt: 1, worker: "w"), in: play).isEmpty)
    let facts: [FleetEvent] = [
      .devicePlaced(device: "d0", attempt: 1, adapter: "hci0"),
      .transferBegan(device: "d0", attempt: 1, offset: 0),
      .deviceActivating(device: "d0", attempt: 1),
      .claimExpired(device: "d0", attempt: 1),
      .outcomeReportedLate(device: "d0", attempt: 1, worker: "w", ending: .current(version: nil)),
    ]
    for fact in facts {
      let first = Self.events(fact, in: play)
      #expect(first == [fact])
      Self.apply(first, to: &play)
      #expect(Self.events(fact, in: play).isEmpty, "\(fact)")
    }
  }

  /// The claim of another worker shows that the former claim expired, although the fact about the
  /// expiry was lost.
  @Test func aClaimOfAnotherWorkerEndsTheFormerClaim() throws {
    let play = try Self.play()
    let claim = FleetEvent.deviceClaimed(device: "d0", attempt: 1, worker: "v")
    #expect(Self.events(claim, in: play) == [.claimExpired(device: "d0", attempt: 1), claim])
  }

  /// The outcome of an expired claim cancels the waiting job, and the job ends with this outcome.
  /// The device is not read again.
  @Test func aLateOutcomeEndsAWaitingJob() throws {
    var play = try Self.play()
    Self.apply(Self.events(.deviceActivating(device: "d0", attempt: 1), in: play), to: &play)
    Self.apply(Self.events(.claimExpired(device: "d0", attempt: 1), in: play), to: &play)
    let late = FleetEvent.outcomeReportedLate(
      device: "d0", attempt: 1, worker: "w", ending: .updated(RulesTests.figures))
    Self.apply(Self.events(late, in: play), to: &play)
    let recall = FleetEffect.cancel([UpdateJob.ID(run: "r", device: "d0", attempt: 1)])
    #expect(play.rules.effects(of: late, in: play.run) == [recall])
    #expect(play.rules.effectsToRepeat(in: play.run).contains(recall))
    let ended = FleetEvent.attemptEnded(device: "d0", attempt: 1, ending: .returned(.recalled))
    Self.apply(Self.events(ended, in: play), to: &play)
    #expect(play.run["d0"]?.ending == .updated)
    #expect(play.run["d0"]?.figures == RulesTests.figures)
  }

  /// If another worker claims the job after the late outcome, the outcome no longer counts, because
  /// this worker may have changed the device.
  @Test func aLateOutcomeBeforeAnotherClaimHasNoEffect() throws {
    var play = try Self.play()
    Self.apply(Self.events(.claimExpired(device: "d0", attempt: 1), in: play), to: &play)
    let late = FleetEvent.outcomeReportedLate(
      device: "d0", attempt: 1, worker: "w", ending: .updated(RulesTests.figures))
    Self.apply(Self.events(late, in: play), to: &play)
    play.hear(.claimed(worker: "v"), of: "d0")
    let ended = FleetEvent.attemptEnded(device: "d0", attempt: 1, ending: .returned(.recalled))
    Self.apply(Self.events(ended, in: play), to: &play)
    #expect(play.run["d0"]?.phase == .waiting)
  }

  @Test func aLateOutcomeAfterAnotherClaimHasNoEffect() throws {
    var play = try Self.play()
    Self.apply(Self.events(.claimExpired(device: "d0", attempt: 1), in: play), to: &play)
    play.hear(.claimed(worker: "v"), of: "d0")
    let late = FleetEvent.outcomeReportedLate(
      device: "d0", attempt: 1, worker: "w", ending: .updated(RulesTests.figures))
    Self.apply(Self.events(late, in: play), to: &play)
    #expect(play.rules.effects(of: late, in: play.run).isEmpty)
    #expect(play.run["d0"]?.phase == .claimed(worker: "v"))
  }

  @Test func aDeviceOutOfRangeOfAWorkerUsesNoAttempt() throws {
    var play = try Self.play()
    for worker in ["w", "v", "u", "t", "s", "r", "q"] {
      play.hear(.claimed(worker: worker), of: "d0")
      Self.apply(
        Self.events(.deviceNotInRange(device: "d0", attempt: 1, worker: worker), in: play),
        to: &play)
    }
    #expect(play.run["d0"]?.phase == .published)
    #expect(play.run["d0"]?.linkFailures == 0 && play.run["d0"]?.attempts == 1)
    #expect(play.run["d0"]?.records.count == 7)
  }

  /// Workers in other processes keep their claims. The exchange may have lost their jobs, so the
  /// jobs are published again.
  @Test func aRestartKeepsTheClaimsOfRunningWorkers() throws {
    let play = try Self.play()
    #expect(
      play.rules.eventsOfRestart(in: play.run, now: play.now).contains(
        .attemptEnded(device: "d0", attempt: 1, ending: .returned(.holderGone))))
    #expect(play.rules.eventsOfRestart(in: play.run, now: play.now, workersLive: true).isEmpty)
    let jobs = play.rules.effectsToRepeat(in: play.run, workersLive: true).compactMap { effect in
      if case .publish(let job) = effect { job.id.device } else { nil }
    }
    #expect(jobs.sorted() == ["d0", "d1"])
    #expect(play.rules.effectsToRepeat(in: play.run).count == 1)
  }

  @Test func aJobIsACompleteOrder() throws {
    var campaign = RulesTests.campaign(1)
    campaign.flash.mtu = 100
    campaign.hooks.commands[.beforeDevice] = .words(["open"])
    campaign.requirements.battery = DeviceRequirements.Battery(percent: 30)
    var play = try RulesTests.Play(campaign)
    let published = try #require(play.settle().last)
    let effects = play.rules.effects(of: published, in: play.run)
    guard case .publish(let job)? = effects.first else {
      Issue.record("the job is published: \(effects)")
      return
    }
    #expect(job.order.options == campaign.flash)
    #expect(job.order.requirements == campaign.requirements)
    #expect(job.order.hooks == campaign.hooks)
    #expect(job.order.hookFacts["OTAFLASH_HOOK_DEVICE"] == "d0")
    #expect(job.order.hookFacts["OTAFLASH_HOOK_ATTEMPT"] == "1")
    #expect(job.order.search == .zero && job.order.key == nil)
  }
}
