import OtaflashFirmware
import OtaflashFleet
import Testing

/// Tests of single rules: the state of a run, a fact, and the events that follow.
@Suite struct RulesTests {
  static let start = WallClockTime(milliseconds: 1_000_000)
  static let failure = AttemptFailure(.device, code: "reverted", words: "it was taken back")
  static let lost = AttemptFailure(.link, code: "link-lost", words: "the link was lost")
  static let figures = UpdateFigures(
    from: nil, to: nil, proof: "version", bytes: 1, uploadMilliseconds: 1, resumes: 0)

  /// A fact that the exchange reports about a job.
  enum Fact {
    case claimed(worker: String)
    case activating
    case expired
    case ended(AttemptEnding)

    func of(_ job: UpdateJob.ID) -> JobFact {
      let event: FleetEvent =
        switch self {
        case .claimed(let worker):
          .deviceClaimed(device: job.device, attempt: job.attempt, worker: worker)
        case .activating: .deviceActivating(device: job.device, attempt: job.attempt)
        case .expired: .claimExpired(device: job.device, attempt: job.attempt)
        case .ended(let ending):
          .attemptEnded(device: job.device, attempt: job.attempt, ending: ending)
        }
      return JobFact(number: 1, job: job, event: event)
    }
  }

  /// A run that a test drives step by step.
  struct Play {
    let rules: FleetRules
    var run = FleetRun()
    var now = start

    init(_ campaign: Campaign, at moment: WallClockTime = start) throws {
      now = moment
      rules = FleetRules(campaign)
      let plan = try CampaignPlan(campaign, now: now)
      for event in plan.beginning(id: "r", digest: "d", imageDigests: ["app.bin": "i"]) {
        run.apply(event, at: now)
      }
    }

    /// Executes automatic steps until there are no more; returns their events.
    @discardableResult
    mutating func settle() -> [FleetEvent] {
      var all: [FleetEvent] = []
      while true {
        let events = rules.next(in: run, now: now)
        guard !events.isEmpty else { return all }
        for event in events { run.apply(event, at: now) }
        all += events
      }
    }

    @discardableResult
    mutating func hear(_ fact: Fact, of device: String, attempt: Int = 1) -> [FleetEvent] {
      let fact = fact.of(UpdateJob.ID(run: "r", device: device, attempt: attempt))
      let events = rules.events(after: fact, in: run, now: now, random: 0)
      for event in events { run.apply(event, at: now) }
      return events
    }

    /// Plays one attempt from claim to end.
    mutating func attempt(_ device: String, _ number: Int = 1, _ ending: AttemptEnding) {
      hear(.claimed(worker: "w"), of: device, attempt: number)
      hear(.ended(ending), of: device, attempt: number)
    }

    mutating func order(_ order: OperatorCommand) throws(CommandRefusal) {
      for event in try FleetRules.events(for: order, in: run) { run.apply(event, at: now) }
    }

    mutating func pass(_ duration: Duration) { now = now.advanced(by: duration) }
  }

  static func campaign(_ count: Int, _ waves: [Wave] = [Wave("all", .rest)]) -> Campaign {
    Campaign(
      name: "c", devices: (0..<count).map { FleetDevice(id: "d\($0)") }, images: [nil: "app.bin"],
      waves: waves)
  }

  // MARK: Attempts

  @Test func retriesAfterALostLinkHaveGrowingDelays() throws {
    var play = try Play(Self.campaign(1))
    var waits: [Duration] = []
    for number in 1...4 {
      play.settle()
      play.attempt("d0", number, .failed(Self.lost))
      waits.append(play.now.duration(to: try #require(play.run["d0"]).notBefore))
      #expect(play.settle().isEmpty, "not before its time")
      play.pass(waits[number - 1])
    }
    #expect(waits == [5, 10, 20, 40].map { .seconds($0) })
    play.settle()
    play.attempt("d0", 5, .failed(Self.lost))
    #expect(play.run["d0"]?.ending == .failed(Self.lost))
  }

  @Test func anUnseenDeviceIsAbsentAndASeenDeviceHasFailed() throws {
    var campaign = Self.campaign(2)
    campaign.retries.linkAttempts = 2
    var play = try Play(campaign)
    for number in 1...2 {
      play.settle()
      play.attempt("d0", number, .returned(.notHeard))
      play.attempt("d1", number, number == 1 ? .returned(.deviceBusy) : .returned(.notHeard))
      play.pass(.seconds(600))
    }
    #expect(play.run["d0"]?.ending == .absent)
    #expect(play.run["d1"]?.ending?.count == .failed)
  }

  /// The worker ended, so the attempt has no outcome that shows that the device was in range.
  @Test func aDeviceThatDoesNotReturnFromAnInterruptedActivationHasFailed() throws {
    var campaign = Self.campaign(1)
    campaign.retries.linkAttempts = 1
    var play = try Play(campaign)
    play.settle()
    play.hear(.claimed(worker: "w"), of: "d0")
    play.hear(.activating, of: "d0")
    play.hear(.expired, of: "d0")
    play.attempt("d0", 1, .returned(.notHeard))
    play.settle()
    #expect(play.run["d0"]?.ending?.count == .failed)
  }

  @Test func aRepeatedFailureIsQuarantined() throws {
    var play = try Play(Self.campaign(1))
    play.settle()
    play.attempt("d0", 1, .failed(Self.failure))
    #expect(play.run["d0"]?.phase == .waiting)
    play.pass(.seconds(600))
    play.settle()
    play.attempt("d0", 2, .failed(Self.failure))
    #expect(play.run["d0"]?.ending == .quarantined(Self.failure))
  }

  @Test func aFinalFailureIsNotRetried() throws {
    var play = try Play(Self.campaign(1))
    play.settle()
    var refused = Self.failure
    refused.isFinal = true
    play.attempt("d0", 1, .failed(refused))
    #expect(play.run["d0"]?.ending == .failed(refused))
  }

  @Test(arguments: [
    ReturnReason.recalled, .stopping, .holderGone,
  ])
  func aReturnedJobDoesNotCountAsAnAttempt(_ reason: ReturnReason) throws {
    var play = try Play(Self.campaign(1))
    for number in 1...50 {
      play.settle()
      play.attempt("d0", number, .returned(reason))
    }
    #expect(play.run["d0"]?.phase == .waiting && play.run["d0"]?.linkFailures == 0)
  }

  /// A process died after it had sent the activation command and before it received the answer.
  @Test func aDeviceThatMayRunTheNewImageIsReadFirst() throws {
    var play = try Play(Self.campaign(1))
    play.settle()
    play.hear(.claimed(worker: "w"), of: "d0")
    play.hear(.activating, of: "d0")
    play.hear(.ended(.returned(.holderGone)), of: "d0")
    #expect(play.settle() == [.devicePublished(device: "d0", attempt: 2, verifyFirst: true)])
    let event = FleetEvent.devicePublished(device: "d0", attempt: 2, verifyFirst: true)
    guard case .publish(let job) = play.rules.effects(of: event, in: play.run).first else {
      return #expect(Bool(false), "it is published")
    }
    #expect(job.verifyFirst)
    play.attempt("d0", 2, .current(version: FirmwareVersion(1, 3, 0)))
    #expect(play.run["d0"]?.ending == .updated)
    #expect(play.run["d0"]?.runs == FirmwareVersion(1, 3, 0))
  }

  /// The claim expired after the activation command, so the same job has another worker.
  @Test func theNextClaimOfAJobThatWasActivatedReadsFirst() throws {
    var play = try Play(Self.campaign(1))
    play.settle()
    play.hear(.claimed(worker: "w"), of: "d0")
    play.hear(.activating, of: "d0")
    play.hear(.expired, of: "d0")
    play.hear(.claimed(worker: "v"), of: "d0")
    #expect(play.run["d0"]?.records.map(\.number) == [1, 1])
    #expect(play.run["d0"]?.records.map(\.verifyFirst) == [false, true])
  }

  @Test func factsOfAnotherAttemptOrRunAreIgnored() throws {
    var play = try Play(Self.campaign(2))
    play.settle()
    #expect(play.hear(.claimed(worker: "w"), of: "d0", attempt: 2).isEmpty)
    #expect(play.hear(.claimed(worker: "w"), of: "unknown").isEmpty)
    play.attempt("d0", 1, .updated(Self.figures))
    #expect(play.hear(.ended(.failed(Self.failure)), of: "d0").isEmpty, "it came too late")
    let other = Fact.expired.of(UpdateJob.ID(run: "x", device: "d1", attempt: 1))
    #expect(play.rules.events(after: other, in: play.run, now: play.now, random: 0).isEmpty)
  }

  /// If the clock is set back by an hour, the next attempt waits for its recorded time, and the run
  /// then continues.
  @Test func aClockChangeStopsNoRun() throws {
    var play = try Play(Self.campaign(1))
    play.settle()
    play.attempt("d0", 1, .failed(Self.lost))
    play.pass(.seconds(-3600))
    #expect(play.settle().isEmpty)
    #expect(
      play.rules.nextMoment(in: play.run, now: play.now) == Self.start.advanced(by: .seconds(5)))
    play.pass(.seconds(3605))
    #expect(play.settle().count == 1)
  }

  // MARK: Order of devices

  @Test func aWaitingDeviceDelaysNoOtherDevice() throws {
    var play = try Play(Self.campaign(6))
    let first = play.settle().compactMap { event -> String? in
      if case .devicePublished(let id, _, _) = event { id } else { nil }
    }
    #expect(first.count == 4, "the maximum that may wait for a worker")
    play.attempt(first[0], 1, .returned(.notHeard))
    #expect(play.settle().count == 1, "the fifth device is published")
  }

  @Test func aSiteWithoutWorkersDelaysNoOtherSite() throws {
    var campaign = Self.campaign(20)
    for index in 0..<10 { campaign.devices[index].site = "berlin" }
    var play = try Play(campaign)
    #expect(play.settle().count == 9, "the wave, four in Berlin and four without a site")
    #expect(play.run.published["berlin"] == 4 && play.run.published[nil] == 4)
  }

  // MARK: Waves

  static let two = [Wave("canary", .count(1)), Wave("all", .rest)]

  @Test func aWaveStartsAfterTheSuccessOfThePreviousWave() throws {
    var play = try Play(Self.campaign(3, Self.two))
    play.settle()
    let canary = try #require(play.run.devices.first).device.id
    play.attempt(canary, 1, .updated(Self.figures))
    let events = play.settle()
    #expect(events.prefix(2) == [.waveJudged(wave: 0, verdict: .continue), .waveBegan(wave: 1)])
    for device in play.run.devices.dropFirst() {
      play.attempt(device.device.id, 1, .updated(Self.figures))
    }
    #expect(
      play.settle() == [
        .waveJudged(wave: 1, verdict: .continue), .runEnded(.complete(failed: 0)),
      ])
  }

  @Test func theSoakTimeDelaysTheVerdict() throws {
    var waves = Self.two
    waves[0].soak = .seconds(3600)
    var play = try Play(Self.campaign(3, waves))
    play.settle()
    play.attempt(play.run.devices[0].device.id, 1, .updated(Self.figures))
    let until = play.now.advanced(by: .seconds(3600))
    #expect(play.settle() == [.waveSoaking(wave: 0, until: until)])
    #expect(play.rules.nextMoment(in: play.run, now: play.now) == until)
    play.pass(.seconds(3599))
    #expect(play.settle().isEmpty)
    play.pass(.seconds(1))
    #expect(play.settle().first == .waveJudged(wave: 0, verdict: .continue))
  }

  @Test func approvalWaitsForAnOperator() throws {
    var waves = Self.two
    waves[0].needsApproval = true
    waves[1].needsApproval = true
    var play = try Play(Self.campaign(2, waves))
    play.settle()
    play.attempt(play.run.devices[0].device.id, 1, .updated(Self.figures))
    #expect(
      play.settle() == [.waveJudged(wave: 0, verdict: .continue), .approvalAwaited(wave: 0)])
    #expect(play.rules.nextMoment(in: play.run, now: play.now) == nil)
    try play.order(.resume)
    #expect(play.settle().first == .waveBegan(wave: 1))
    play.attempt(play.run.devices[1].device.id, 1, .updated(Self.figures))
    #expect(play.settle().last == .runEnded(.complete(failed: 0)), "nothing follows the last")
  }

  @Test func tooFewSeenDevicesPauseTheRun() throws {
    var campaign = Self.campaign(5, [Wave("canary", .count(2)), Wave("all", .rest)])
    campaign.retries.linkAttempts = 1
    campaign.waves[0].thresholds.seenPercent = 60
    var play = try Play(campaign)
    play.settle()
    play.attempt(play.run.devices[0].device.id, 1, .updated(Self.figures))
    play.attempt(play.run.devices[1].device.id, 1, .returned(.notHeard))
    #expect(
      play.settle() == [
        .waveJudged(wave: 0, verdict: .inconclusive(seen: 1, of: 2)),
        .runPaused(because: .inconclusive(wave: 0)),
      ])
    try play.order(.resume)
    #expect(play.settle().first == .waveBegan(wave: 1))
  }

  @Test func theThresholdStopsWaitingDevices() throws {
    var campaign = Self.campaign(9, [Wave("some", .count(8)), Wave("all", .rest)])
    campaign.retries.sameFailures = 1
    campaign.waves[0].thresholds.stop = .count(2)
    var play = try Play(campaign)
    play.settle()
    let ids = play.run.devices.map(\.device.id)
    play.hear(.claimed(worker: "w"), of: ids[2])
    play.attempt(ids[0], 1, .failed(Self.failure))
    play.attempt(ids[1], 1, .failed(Self.failure))
    let events = play.settle()
    #expect(events == [.waveJudged(wave: 0, verdict: .stop(failures: 2, of: 8))])
    let effects = play.rules.effects(of: events[0], in: play.run)
    #expect(
      effects == [.cancel([UpdateJob.ID(run: "r", device: ids[3], attempt: 1)])],
      "waiting jobs are recalled, running jobs are not")
    play.hear(.ended(.returned(.recalled)), of: ids[3])
    #expect(play.settle().isEmpty, "one device is still claimed")
    play.hear(.ended(.updated(Self.figures)), of: ids[2])
    #expect(play.settle() == [.runEnded(.stopped(wave: 0))])
    #expect(play.run.devices.count { $0.ending == nil } == 6)
  }

  @Test func infrastructurePausesTheRunAndCountsAgainstNoWave() throws {
    var campaign = Self.campaign(1)
    campaign.retries.infrastructureFailures = 3
    var play = try Play(campaign)
    let full = AttemptFailure(.infrastructure, code: "disk-full", words: "the disk is full")
    for number in 1...3 {
      play.settle()
      play.attempt("d0", number, .failed(full))
      play.pass(.seconds(600))
    }
    #expect(
      play.settle() == [
        .runPaused(because: .infrastructure(failures: 3, words: "the disk is full"))
      ])
    try play.order(.resume)
    #expect(play.settle() == [.devicePublished(device: "d0", attempt: 4, verifyFirst: false)])
  }
}
