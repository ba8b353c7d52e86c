import OtaflashFleet
import OtaflashGATT

/// The reason why a run was interrupted. The recorded events of the run are kept, and another call
/// resumes the run.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum FleetEngineFault: Error, Hashable, Sendable {
  /// An event could not be recorded or read.
  case storage(StorageFault)
  /// The exchange did not answer repeated calls; or a job was lost or offered twice, which is a
  /// bug.
  case exchange(words: String)
  /// The run was interrupted.
  case cancelled

  package init(_ fault: ExchangeFault) {
    if case .storage(let storage) = fault {
      self = .storage(storage)
    } else {
      self = .exchange(words: "\(fault)")
    }
  }
}

extension FleetEngineFault: CustomStringConvertible {
  /// The fault, as a clause.
  public var description: String {
    switch self {
    case .storage(let fault): fault.words
    case .exchange(let words): words
    case .cancelled: "the run was interrupted"
    }
  }
}

/// The coordinator reads facts, evaluates the rules, records events and executes their effects.
/// While the coordinator works on a run, no other part of the program records events of this run.
struct Coordinator: Sendable {
  /// The polling interval for operator commands from other processes.
  private static let requestInterval = Duration.milliseconds(200)
  /// The polling interval for adapters and hooks, and the pause before a call to an exchange that
  /// did not answer is repeated. Facts wake the coordinator immediately.
  private static let workInterval = Duration.seconds(1)
  /// The maximum pause. It is limited because the clock may be set forward or the machine may sleep
  /// during the pause.
  private static let longestPause = Duration.seconds(30)
  private static let factsMaximum = 256
  /// The maximum number of calls, one per second, to an exchange that does not answer.
  private static let triesMaximum = 60

  let rules: FleetRules
  let exchange: any JobExchange
  let ledger: any EventLedger
  let commands: (any CommandSource)?
  /// Whether to wait when only an operator can continue the run.
  let waits: Bool
  let environment: FleetEnvironment
  let time: RunClock
  let hooks: WaveHookRunner
  let adapters: AdapterWatch
  /// Set after the workers stopped.
  let workersEnded: OneShot<Void>
  /// A callback that is called after events were recorded. It must return soon.
  let observe: @Sendable ([FleetEvent], FleetRun) -> Void

  /// Continues a run until its end. If `waits` is `false` or `commands` is `nil`, also returns when
  /// only an operator can continue the run.
  func run(_ former: FleetRun) async throws(FleetEngineFault) -> FleetRun {
    var (run, seen) = (former, 0)
    observe([], run)
    try await wrapped { () async throws(ExchangeFault) in try await exchange.open(run.id) }
    let workersLive = exchange.outlivesCoordinator
    let restart = rules.eventsOfRestart(in: run, now: time.now, workersLive: workersLive)
    if !restart.isEmpty {
      let now = time.now
      try await keep(restart, now: now)
      for event in restart { run.apply(event, at: now) }
      observe(restart, run)
    }
    try await carryOut(rules.effectsToRepeat(in: run, workersLive: workersLive), run)
    while true {
      let now = time.now
      let events = try await step(&run, &seen, now: now)
      if !events.isEmpty { continue }
      try await carryOut(rules.effectsOfClosing(in: run, wall: time.wall), run)
      if case .ended = run.control {
        try await wrapped { () async throws(ExchangeFault) in try await exchange.forget(run.id) }
        return run
      }
      let next = rules.nextMoment(in: run, now: now, wall: time.wall)
      guard waits && commands != nil || isAtWork(run) || next != nil else { return run }
      guard
        await pause(
          for: wait(run, from: now, to: next), orUntilFactOf: run.id, after: seen)
      else {
        try await stop(run, seen)
        throw .cancelled
      }
    }
  }

  /// - Returns: `false` if the task was cancelled.
  private func pause(
    for duration: Duration, orUntilFactOf run: String, after seen: Int
  ) async -> Bool {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await exchange.arrival(of: run, after: seen) }
      group.addTask { await environment.clock.pause(for: duration) }
      await group.next()
      group.cancelAll()
    }
    return !Task.isCancelled
  }

  private func wait(_ run: FleetRun, from now: WallClockTime, to next: WallClockTime?) -> Duration {
    let longest =
      commands != nil ? Self.requestInterval : isAtWork(run) ? Self.workInterval : Self.longestPause
    guard let next else { return longest }
    return min(max(now.duration(to: next), .milliseconds(1)), longest)
  }

  /// Closes the run in the exchange, so that the workers start no more steps that require a record,
  /// and records the reports of the workers after they stopped at a safe point.
  private func stop(_ run: FleetRun, _ seen: Int) async throws(FleetEngineFault) {
    exchange.close(run.id)
    let result = await shielded { () async -> Result<Void, FleetEngineFault> in
      _ = await workersEnded.wait()
      do throws(FleetEngineFault) {
        var (run, batch) = (run, Batch(rules: rules, now: time.now))
        _ = try await takeFacts(after: seen, into: &batch, &run)
        guard !batch.events.isEmpty else { return .success(()) }
        try await keep(batch.events, now: batch.now)
        observe(batch.events, run)
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  private func isAtWork(_ run: FleetRun) -> Bool {
    run.openCount > 0 || run.runningHook != nil || run.control == .paused(.noAdapter)
  }

  /// Processes all pending input and the events that follow from it, records the events, and
  /// executes their effects.
  private func step(
    _ run: inout FleetRun, _ seen: inout Int, now: WallClockTime
  ) async throws(FleetEngineFault) -> [FleetEvent] {
    var next = run
    var batch = Batch(rules: rules, now: now)
    let last = try await takeFacts(after: seen, into: &batch, &next)
    let adapterless = adapters.noneFor(at: environment.clock.now)
    batch.record(rules.events(noAdapterFor: adapterless, in: next), in: &next)
    for hook in hooks.takeEnded() {
      batch.record(
        rules.events(afterHook: hook.point, of: hook.wave, hook.outcome, in: next), in: &next)
    }
    let answers = try await follow(&batch, &next)
    while true {
      let own = rules.next(in: next, now: now, wall: time.wall)
      guard !own.isEmpty else { break }
      batch.record(own, in: &next)
    }
    if !batch.events.isEmpty { try await keep(batch.events, now: now) }
    (run, seen) = (next, last)
    try await carryOut(batch.effects, run)
    try await send(answers)
    if !batch.events.isEmpty { observe(batch.events, run) }
    return batch.events
  }

  /// - Returns: the number of the last fact.
  private func takeFacts(
    after seen: Int, into batch: inout Batch, _ run: inout FleetRun
  ) async throws(FleetEngineFault) -> Int {
    let id = run.id
    let facts = try await wrapped { () async throws(ExchangeFault) in
      try await exchange.facts(of: id, after: seen, limit: Self.factsMaximum)
    }
    for fact in facts {
      // No random number is drawn for the start of a transfer, which schedules no attempt: an
      // additional number would change the outcomes of simulations.
      let random =
        if case .transferBegan = fact.event { 0.0 } else { environment.clock.randomFraction() }
      batch.record(
        rules.events(after: fact, in: run, now: batch.now, random: random), in: &run)
    }
    return facts.last?.number ?? seen
  }

  /// Events that are recorded together, and their effects.
  private struct Batch {
    let rules: FleetRules
    let now: WallClockTime
    var events: [FleetEvent] = []
    var effects: [FleetEffect] = []

    init(rules: FleetRules, now: WallClockTime) {
      self.rules = rules
      self.now = now
    }

    mutating func record(_ new: [FleetEvent], in run: inout FleetRun) {
      for event in new {
        run.apply(event, at: now)
        effects += rules.effects(of: event, in: run)
      }
      events += new
    }
  }

  private func keep(_ events: [FleetEvent], now: WallClockTime) async throws(FleetEngineFault) {
    do throws(StorageFault) { try await ledger.append(events, at: now) } catch {
      throw .storage(error)
    }
  }

  private func carryOut(
    _ effects: [FleetEffect], _ run: FleetRun
  ) async throws(FleetEngineFault) {
    var jobs: [UpdateJob] = []
    for effect in effects {
      if case .publish(let job) = effect {
        jobs.append(job)
        continue
      }
      try await publish(&jobs)
      switch effect {
      case .publish: break
      case .cancel(let jobs):
        try await wrapped { () async throws(ExchangeFault) in try await exchange.cancel(jobs) }
      case .runHook(let wave, let point): hooks.ask(for: point, of: wave, in: run)
      }
    }
    try await publish(&jobs)
  }

  private func publish(_ jobs: inout [UpdateJob]) async throws(FleetEngineFault) {
    guard !jobs.isEmpty else { return }
    let ready = jobs
    try await wrapped { () async throws(ExchangeFault) in try await exchange.publish(all: ready) }
    jobs = []
  }

  /// Repeats a call, at most `triesMaximum` times, while the exchange does not answer.
  private func wrapped<Value>(
    _ body: () async throws(ExchangeFault) -> Value
  ) async throws(FleetEngineFault) -> Value {
    var tries = 0
    while true {
      tries += 1
      do throws(ExchangeFault) { return try await body() } catch {
        guard case .unavailable = error, tries < Self.triesMaximum else {
          throw FleetEngineFault(error)
        }
        guard await environment.clock.pause(for: Self.workInterval) else { throw .cancelled }
      }
    }
  }

  // MARK: Requests

  private struct Answer {
    let pending: PendingCommand
    let words: String
  }

  private func follow(
    _ batch: inout Batch, _ run: inout FleetRun
  ) async throws(FleetEngineFault) -> [Answer] {
    guard let commands else { return [] }
    var answers: [Answer] = []
    do throws(StorageFault) {
      for pending in try await commands.pending() {
        do throws(CommandRefusal) {
          let events = try FleetRules.events(for: pending.command, in: run)
          batch.record(pending.action.map { [.operatorActed($0)] } ?? [], in: &run)
          batch.record(events, in: &run)
          answers.append(Answer(pending: pending, words: CommandAnswer.done))
        } catch {
          answers.append(Answer(pending: pending, words: "\(error)"))
        }
      }
    } catch {
      throw .storage(error)
    }
    return answers
  }

  private func send(_ answers: [Answer]) async throws(FleetEngineFault) {
    do throws(StorageFault) {
      for answer in answers { try await commands?.answer(answer.pending, answer.words) }
    } catch {
      throw .storage(error)
    }
  }
}

extension FleetRun {
  /// The id of a run that has started.
  fileprivate var id: String { beginning?.id ?? "" }
}
