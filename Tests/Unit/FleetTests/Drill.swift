import OtaflashFleet

/// A run that is drawn from a seed: the rules, an exchange, and workers that succeed, fail, stop
/// reporting, or die. Time is virtual.
struct Drill {
  /// The probabilities of the behavior of devices and attempts.
  struct Luck: Sendable {
    /// The shares of the devices, 0…1.
    var bad = 0.0
    var away = 0.0
    /// The shares of the attempts, 0…1.
    var linkLoss = 0.0
    var silence = 0.0
    var infrastructure = 0.0
  }

  /// The maximum number of steps, which is more than the longest drill needs. The limit detects a
  /// hang.
  private static let stepsMaximum = 200_000
  private static let lease = Duration.seconds(45)

  let rules: FleetRules
  var table = JobTable()
  var run = FleetRun()
  var history: [RecordedEvent] = []
  private(set) var now = WallClockTime(milliseconds: 1_000_000)
  /// The devices that run the new image, regardless of the recorded events; all values are `true`.
  private(set) var truth: [FleetDevice.ID: Bool] = [:]
  /// Jobs in progress, each with the time at which it is done.
  private var working: [(claim: JobClaim, until: WallClockTime)] = []
  private var random: UInt64
  private let luck: Luck
  private let slots: Int
  private(set) var begunAfterStop = 0
  private(set) var failedWhenStopped: Int?
  /// The numbers of events after which the process ends and another process starts, in order.
  var killsAt: [Int] = []

  init(
    _ plan: CampaignPlan, seed: UInt64, luck: Luck = Luck(), slots: Int = 4, ahead: Int = 4
  ) throws {
    rules = FleetRules(plan.campaign, publishedAhead: ahead)
    self.luck = luck
    self.slots = slots
    random = seed
    record(plan.beginning(id: "r", digest: "d", imageDigests: ["app.bin": "i"]))
  }

  /// The time of the exchange's clock.
  private var elapsed: Duration { .milliseconds(now.milliseconds) }

  mutating func fraction() -> Double {
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Double(random >> 11) / Double(UInt64.max >> 11)
  }

  /// Runs until no step is possible; returns the number of steps.
  @discardableResult
  mutating func drive() throws -> Int {
    for step in 0..<Self.stepsMaximum {
      if let kill = killsAt.first, history.count >= kill { killProcess() }
      if try coordinate() { continue }
      if try work() { continue }
      guard let moment = nextMoment() else { return step }
      now = max(now, moment)
    }
    throw Hang()
  }

  struct Hang: Error {}

  // MARK: The coordinator

  private mutating func coordinate() throws -> Bool {
    table.expire(now: elapsed)
    if let fact = table.facts(of: "r").first {
      table.forgetFacts(of: "r", upTo: fact.number)
      record(rules.events(after: fact, in: run, now: now, random: fraction()))
      return true
    }
    for effect in rules.effectsOfClosing(in: run, wall: now) { try carryOut(effect) }
    let events = rules.next(in: run, now: now)
    record(events)
    for event in events {
      for effect in rules.effects(of: event, in: run) { try carryOut(effect) }
    }
    return !events.isEmpty || !table.facts(of: "r").isEmpty
  }

  mutating func order(_ order: OperatorCommand) throws {
    let events = try FleetRules.events(for: order, in: run)
    record(events)
    for event in events {
      for effect in rules.effects(of: event, in: run) { try carryOut(effect) }
    }
  }

  private mutating func record(_ events: [FleetEvent]) {
    for event in events {
      history.append(RecordedEvent(number: history.count + 1, at: now, event: event))
      run.apply(event, at: now)
      note(event)
    }
  }

  private mutating func note(_ event: FleetEvent) {
    switch event {
    case .waveJudged(let wave, .stop): failedWhenStopped = run.waves[wave].tally.failed
    case .devicePublished: if failedWhenStopped != nil { begunAfterStop += 1 }
    default: break
    }
  }

  private mutating func carryOut(_ effect: FleetEffect) throws {
    switch effect {
    case .publish(let job): try table.publish(job)
    case .cancel(let jobs): table.cancel(jobs)
    case .runHook(let wave, let point):
      record(rules.events(afterHook: point, of: wave, HookOutcome(.exited(code: 0)), in: run))
    }
  }

  /// Ends the process, whose state is lost; the next process has only the events.
  private mutating func killProcess() {
    killsAt.removeFirst()
    working = []
    table = JobTable()
    run = FleetRun(history)
    record(rules.eventsOfRestart(in: run, now: now))
    do {
      for effect in rules.effectsToRepeat(in: run) { try carryOut(effect) }
    } catch {
      preconditionFailure("a published job may be published again: \(error)")
    }
  }

  // MARK: The workers

  private mutating func work() throws -> Bool {
    if let index = working.firstIndex(where: { $0.until <= now }) {
      let claim = working.remove(at: index).claim
      try end(claim)
      return true
    }
    guard working.count < slots else { return false }
    let before = table.lastFact(of: "r")
    let claim = table.claim(for: FleetWorker(name: "w"), now: elapsed, lease: Self.lease)
    guard let claim else { return table.lastFact(of: "r") > before }
    if fraction() < luck.silence {
      // The worker ended without a report, but its work may be complete.
      let (device, isDone) = (claim.job.id.device, fraction() < 0.5)
      if isDone, !isDrawn(device, share: luck.away, salt: 1),
        !isDrawn(device, share: luck.bad, salt: 2)
      {
        truth[device] = true
      }
      return true
    }
    let seconds = Int64(1 + fraction() * 20)
    working.append((claim, now.advanced(by: .seconds(seconds))))
    return true
  }

  private mutating func end(_ claim: JobClaim) throws {
    let device = claim.job.id.device
    do {
      switch fate(of: device) {
      case .returned(let reason): table.release(claim, reason, now: elapsed)
      case let ending:
        if case .updated = ending {
          try table.report(
            claim, .deviceActivating(device: device, attempt: claim.job.id.attempt), now: elapsed)
          truth[device] = true
        }
        try table.finish(claim, ending, now: elapsed)
      }
    } catch ExchangeFault.claimLost {
      // The claim expired, or another worker has claimed the job.
    }
  }

  private mutating func fate(of device: FleetDevice.ID) -> AttemptEnding {
    if isDrawn(device, share: luck.away, salt: 1) { return .returned(.notHeard) }
    if fraction() < luck.infrastructure { return .returned(.adapterLost) }
    if truth[device] == true { return .current(version: nil) }
    if isDrawn(device, share: luck.bad, salt: 2) {
      return .failed(AttemptFailure(.device, code: "reverted", words: "it was taken back"))
    }
    if fraction() < luck.linkLoss {
      return .failed(AttemptFailure(.link, code: "link-lost", words: "the link was lost"))
    }
    return .updated(
      UpdateFigures(
        from: nil, to: nil, proof: "version", bytes: 1, uploadMilliseconds: 1, resumes: 0))
  }

  /// Returns whether a device has a property; the result is always the same for the same device.
  private func isDrawn(_ device: FleetDevice.ID, share: Double, salt: UInt64) -> Bool {
    var hash: UInt64 = 14_695_981_039_346_656_037 &+ salt
    for byte in device.utf8 { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
    hash ^= hash >> 29
    hash = hash &* 0xBF58_476D_1CE4_E5B9
    return Double(hash >> 11) / Double(UInt64.max >> 11) < share
  }

  private func nextMoment() -> WallClockTime? {
    var moments = working.map(\.until)
    if let own = rules.nextMoment(in: run, now: now) { moments.append(own) }
    // Claims that no worker renews.
    let silent = run.claimedCount - working.count
    if silent > 0 { moments.append(now.advanced(by: Self.lease)) }
    return moments.min()
  }
}
