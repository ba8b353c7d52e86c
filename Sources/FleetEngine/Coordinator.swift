import OtaflashFleet
import OtaflashGATT

/// Why a run could not go on. The run itself is where its events say; the same again goes on.
package enum FleetEngineFault: Error, Hashable, Sendable {
  case storage(StorageFault)
  case exchange(ExchangeFault)
  /// It was interrupted.
  case cancelled

  package init(_ fault: ExchangeFault) {
    if case .storage(let storage) = fault {
      self = .storage(storage)
    } else {
      self = .exchange(fault)
    }
  }
}

extension FleetEngineFault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .storage(let fault): fault.words
    case .exchange(let fault): "\(fault)"
    case .cancelled: "the run was interrupted"
    }
  }
}

/// Follows the rules: takes in what has happened, records what that means, and does what follows.
struct Coordinator: Sendable {
  /// How often news and requests are looked for while nothing else is to be done.
  private static let pollInterval = Duration.milliseconds(200)
  /// However far the next moment is: the clock may be put on meanwhile, or the machine sleep.
  private static let longestPause = Duration.seconds(30)
  private static let newsMaximum = 256

  let rules: FleetRules
  let exchange: any JobExchange
  let ledger: any EventLedger
  let orders: (any OrderSource)?
  /// Goes on waiting when only a person could help.
  let waits: Bool
  let surroundings: FleetSurroundings
  let time: RunClock
  let hooks: HookDesk
  let adapters: AdapterWatch
  /// Told after events were recorded; must return soon.
  let observe: @Sendable ([FleetEvent], FleetRun) -> Void

  /// Goes on with a run until it has ended, or until only a person could help and none can ask.
  func run(
    _ former: FleetRun, newsSeen: Int
  ) async throws(FleetEngineFault) -> FleetRun {
    var (run, seen) = (former, newsSeen)
    observe([], run)
    let lost = run.strandedDevices.map { FleetEvent.deviceDeferred(device: $0, until: time.now) }
    if !lost.isEmpty {
      let now = time.now
      try await keep(lost, now: now, newsSeen: seen)
      for event in lost { run.apply(event, at: now) }
      observe(lost, run)
    }
    var ended = try await carryOut(rules.effectsToRepeat(in: run), run)
    while true {
      let now = time.now
      let events = try await step(&run, &seen, &ended, now: now)
      if !events.isEmpty { continue }
      _ = try await carryOut(rules.effectsOfClosing(in: run, wall: time.wall), run)
      if case .ended = run.control { return run }
      let next = rules.nextMoment(in: run, now: now, wall: time.wall)
      guard waits && orders != nil || isAtWork(run) || next != nil else { return run }
      guard await surroundings.clock.pause(for: wait(run, from: now, to: next)) else {
        throw .cancelled
      }
    }
  }

  private func wait(_ run: FleetRun, from now: FleetTime, to next: FleetTime?) -> Duration {
    guard let next else { return Self.pollInterval }
    let until = max(now.duration(to: next), .milliseconds(1))
    return min(until, isAtWork(run) || orders != nil ? Self.pollInterval : Self.longestPause)
  }

  private func isAtWork(_ run: FleetRun) -> Bool {
    run.openCount > 0 || run.runningHook != nil || run.control == .paused(.noAdapter)
  }

  /// Takes in what there is, and all that follows from it; the events of it, recorded and carried
  /// out.
  ///
  /// - Parameter ended: jobs that had ended before they were published; their ends are expected
  ///   among the news that were not read yet.
  private func step(
    _ run: inout FleetRun, _ seen: inout Int, _ ended: inout [FleetJob.ID], now: FleetTime
  ) async throws(FleetEngineFault) -> [FleetEvent] {
    var next = run
    var batch = Batch(rules: rules, now: now)
    let news = try await wrapped { () async throws(ExchangeFault) in
      try await exchange.news(after: seen, now: time.passed, limit: Self.newsMaximum)
    }
    for item in news {
      batch.record(
        rules.events(
          after: item, in: next, now: now, random: surroundings.clock.randomFraction()),
        in: &next)
    }
    if news.count < Self.newsMaximum {
      // All news were read. An attempt that is still open will never end: no news come of it.
      for job in ended {
        let lost = JobNews(number: seen, job: job, fact: .ended(.returned(.outcomeLost)))
        batch.record(rules.events(after: lost, in: next, now: now, random: 0), in: &next)
      }
      ended = []
    }
    let adapterless = adapters.noneFor(at: surroundings.clock.now)
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
    let newsSeen = news.last?.number ?? seen
    if !batch.events.isEmpty || newsSeen != seen {
      try await keep(batch.events, now: now, newsSeen: newsSeen)
    }
    (run, seen) = (next, newsSeen)
    ended += try await carryOut(batch.effects, run)
    try await tell(answers)
    if !batch.events.isEmpty { observe(batch.events, run) }
    return batch.events
  }

  /// Events that are recorded together, and what is done about them then.
  private struct Batch {
    let rules: FleetRules
    let now: FleetTime
    var events: [FleetEvent] = []
    var effects: [FleetEffect] = []

    init(rules: FleetRules, now: FleetTime) {
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

  private func keep(
    _ events: [FleetEvent], now: FleetTime, newsSeen: Int
  ) async throws(FleetEngineFault) {
    do throws(StorageFault) {
      try await ledger.append(events, at: now, newsSeen: newsSeen)
    } catch {
      throw .storage(error)
    }
  }

  /// - Returns: the jobs that were to be published, and had ended before.
  private func carryOut(
    _ effects: [FleetEffect], _ run: FleetRun
  ) async throws(FleetEngineFault) -> [FleetJob.ID] {
    var ended: [FleetJob.ID] = []
    for effect in effects {
      ended += try await wrapped { () async throws(ExchangeFault) -> [FleetJob.ID] in
        switch effect {
        case .publish(let job): return try await exchange.publish([job])
        case .cancel(let jobs): try await exchange.cancel(jobs)
        case .runHook(let wave, let point): hooks.ask(for: point, of: wave, in: run)
        }
        return []
      }
    }
    return ended
  }

  private func wrapped<Value>(
    _ body: () async throws(ExchangeFault) -> Value
  ) async throws(FleetEngineFault) -> Value {
    do throws(ExchangeFault) { return try await body() } catch { throw FleetEngineFault(error) }
  }

  // MARK: Requests

  private struct Answer {
    let pending: PendingOrder
    let words: String
  }

  private func follow(
    _ batch: inout Batch, _ run: inout FleetRun
  ) async throws(FleetEngineFault) -> [Answer] {
    guard let orders else { return [] }
    var answers: [Answer] = []
    do throws(StorageFault) {
      for pending in try await orders.pending() {
        do throws(OrderRefusal) {
          let events = try FleetRules.events(for: pending.order, in: run)
          batch.record(pending.action.map { [.operatorActed($0)] } ?? [], in: &run)
          batch.record(events, in: &run)
          answers.append(Answer(pending: pending, words: OrderAnswer.done))
        } catch {
          answers.append(Answer(pending: pending, words: "\(error)"))
        }
      }
    } catch {
      throw .storage(error)
    }
    return answers
  }

  private func tell(_ answers: [Answer]) async throws(FleetEngineFault) {
    do throws(StorageFault) {
      for answer in answers { try await orders?.answer(answer.pending, answer.words) }
    } catch {
      throw .storage(error)
    }
  }
}
