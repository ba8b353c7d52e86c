import OtaflashGATT
import Synchronization

/// The exchange for workers in the coordinator's process, which end with it. The events of the run
/// determine the work of the next process.
package final class MemoryExchange: JobExchange {
  private struct State {
    var table = JobTable()
    /// The number of the last recorded fact.
    var recorded = 0
    var isClosed = false
    /// The coordinator's wait for the next fact.
    var coordinator: OneShot<Void>?
    /// The waits of workers until a fact is recorded.
    var workers: [(fact: Int, wait: OneShot<Bool>)] = []
  }

  private let state = Mutex(State())

  package init() {}

  package func publish(_ jobs: [UpdateJob]) async throws(ExchangeFault) {
    try change { (table) throws(ExchangeFault) in try table.publish(jobs) }
  }

  package func claim(
    for worker: FleetWorker, now: WallClockTime, lease: Duration
  ) async throws(ExchangeFault) -> JobClaim? {
    try change { (table) throws(ExchangeFault) in table.claim(for: worker, now: now, lease: lease) }
  }

  package func renew(
    _ claim: JobClaim, now: WallClockTime, lease: Duration
  ) async throws(ExchangeFault) -> ClaimStanding {
    try change { (table) throws(ExchangeFault) in
      try table.renew(claim, now: now, lease: lease)
    }
  }

  package func report(_ claim: JobClaim, _ event: FleetEvent) async throws(ExchangeFault) {
    try change { (table) throws(ExchangeFault) in try table.report(claim, event) }
  }

  package func finish(_ claim: JobClaim, _ ending: AttemptEnding) async throws(ExchangeFault) {
    try change { (table) throws(ExchangeFault) in try table.finish(claim, ending) }
  }

  package func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault) {
    try change { (table) throws(ExchangeFault) in table.release(claim, reason) }
  }

  package func cancel(_ jobs: [UpdateJob.ID]) async throws(ExchangeFault) {
    try change { (table) throws(ExchangeFault) in table.cancel(jobs) }
  }

  package func recorded() async throws(ExchangeFault) {
    let wait = state.withLock { state -> OneShot<Bool>? in
      guard state.recorded < state.table.lastFact else { return nil }
      let wait = OneShot<Bool>()
      if state.isClosed { wait.fulfil(false) }
      state.workers.append((state.table.lastFact, wait))
      return wait
    }
    guard let wait, await wait.wait() != true else { return }
    throw .notRecorded
  }

  package func facts(
    after number: Int, now: WallClockTime, limit: Int
  ) async throws(ExchangeFault) -> [JobFact] {
    let (facts, waits) = state.withLock { state in
      state.recorded = max(state.recorded, number)
      state.table.forgetFacts(upTo: state.recorded)
      state.table.expire(now: now)
      let ready = state.workers.filter { $0.fact <= state.recorded }
      state.workers.removeAll { $0.fact <= state.recorded }
      return (Array(state.table.facts.prefix(limit)), ready.map(\.wait))
    }
    for wait in waits { wait.fulfil(true) }
    return facts
  }

  package func arrival(after number: Int) async {
    let wait = state.withLock { state -> OneShot<Void>? in
      guard state.table.lastFact <= number else { return nil }
      let wait = OneShot<Void>()
      state.coordinator = wait
      return wait
    }
    _ = await wait?.wait()
  }

  package func close() {
    let waits = state.withLock { state in
      state.isClosed = true
      defer { state.workers = [] }
      return state.workers.map(\.wait)
    }
    for wait in waits { wait.fulfil(false) }
  }

  private func change<Value: Sendable>(
    _ body: (inout JobTable) throws(ExchangeFault) -> Value
  ) throws(ExchangeFault) -> Value {
    let (value, wait) = try state.withLock {
      (state) throws(ExchangeFault) -> (Value, OneShot<Void>?) in
      let before = state.table.lastFact
      let value = try body(&state.table)
      guard state.table.lastFact > before else { return (value, nil) }
      defer { state.coordinator = nil }
      return (value, state.coordinator)
    }
    wait?.fulfil(())
    return value
  }
}
