import OtaflashGATT
import Synchronization

/// The exchange for workers in the coordinator's process, which end with this process. The events
/// of the run determine the work of the next process.
package final class MemoryExchange: JobExchange {
  private struct Run {
    /// The number of the last recorded fact.
    var recorded = 0
    var isClosed = false
    /// The coordinator's wait for the next fact.
    var coordinator: OneShot<Void>?
    /// The waits of workers until a fact is recorded.
    var workers: [(fact: Int, wait: OneShot<Bool>)] = []
  }

  private struct State {
    var table = JobTable()
    var runs: [String: Run] = [:]
    /// The waits of workers for a job.
    var idle: [(number: Int, wait: OneShot<Void>)] = []
    var nextWait = 0
    var progress: [UpdateJob.ID: JobProgress] = [:]
  }

  package let outlivesCoordinator: Bool
  private let clock: any LinkClock
  private let elapsed: @Sendable () -> Duration
  private let state = Mutex(State())

  /// - Parameters:
  ///   - clock: the clock for waits.
  ///   - elapsed: the clock for leases, which also advances while the machine is suspended; `nil` =
  ///     `clock`.
  ///   - outlivesCoordinator: whether coordinators of this process end before their workers.
  package init(
    clock: any LinkClock, elapsed: (@Sendable () -> Duration)? = nil,
    outlivesCoordinator: Bool = false
  ) {
    self.clock = clock
    self.elapsed = elapsed ?? { clock.now.elapsed }
    self.outlivesCoordinator = outlivesCoordinator
  }

  // MARK: Workers

  package func claim(
    for worker: FleetWorker, lease: Duration, waitingUpTo wait: Duration
  ) async throws(ExchangeFault) -> JobClaim? {
    let end = clock.now.advanced(by: wait)
    while true {
      let claim = change(worker) { (table, now) in
        table.claim(for: worker, now: now, lease: lease)
      }
      if let claim { return claim }
      guard clock.now < end, await waitForJob(until: end) else { return nil }
    }
  }

  /// - Returns: `false` if the task was cancelled.
  private func waitForJob(until end: LinkInstant) async -> Bool {
    let wait = OneShot<Void>()
    let number = state.withLock { state in
      state.nextWait += 1
      state.idle.append((state.nextWait, wait))
      return state.nextWait
    }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { _ = await wait.wait() }
      // Claims of other workers expire without a call that would wake this worker.
      group.addTask {
        await self.clock.pause(until: min(end, self.clock.now.advanced(by: .seconds(1))))
      }
      await group.next()
      group.cancelAll()
    }
    state.withLock { $0.idle.removeAll { $0.number == number } }
    return !Task.isCancelled
  }

  package func claims(of worker: FleetWorker) async throws(ExchangeFault) -> [JobClaim] {
    change(worker) { (table, now) in table.claims(of: worker, now: now) }
  }

  package func renew(
    _ claim: JobClaim, lease: Duration
  ) async throws(ExchangeFault) -> ClaimStanding {
    try change(claim.job.id) { (table, now) throws(ExchangeFault) in
      try table.renew(claim, now: now, lease: lease)
    }
  }

  package func report(_ claim: JobClaim, _ event: FleetEvent) async throws(ExchangeFault) {
    try change(claim.job.id) { (table, now) throws(ExchangeFault) in
      try table.report(claim, event, now: now)
    }
  }

  package func recorded(_ claim: JobClaim) async throws(ExchangeFault) {
    let id = claim.job.id.run
    let wait = state.withLock { state -> OneShot<Bool>? in
      var run = state.runs[id] ?? Run()
      let last = state.table.lastFact(of: id)
      guard run.recorded < last else { return nil }
      let wait = OneShot<Bool>()
      if run.isClosed { wait.fulfil(false) } else { run.workers.append((last, wait)) }
      state.runs[id] = run
      return wait
    }
    guard let wait, await wait.wait() != true else { return }
    throw .notRecorded
  }

  package func progress(_ claim: JobClaim, _ progress: JobProgress) {
    state.withLock { $0.progress[claim.job.id] = progress }
  }

  package func finish(_ claim: JobClaim, _ ending: AttemptEnding) async throws(ExchangeFault) {
    try change(claim.job.id, ends: true) { (table, now) throws(ExchangeFault) in
      try table.finish(claim, ending, now: now)
    }
  }

  package func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault) {
    try change(claim.job.id, ends: true) { (table, now) in
      table.release(claim, reason, now: now)
    }
    wakeIdle()
  }

  // MARK: The coordinator

  package func open(_ run: String) async throws(ExchangeFault) {
    state.withLock { $0.runs[run, default: Run()].isClosed = false }
  }

  package func publish(_ job: UpdateJob) async throws(ExchangeFault) {
    try state.withLock { (state) throws(ExchangeFault) in try state.table.publish(job) }
    wakeIdle()
  }

  private func wakeIdle() {
    for idle in state.withLock({ $0.idle }) { idle.wait.fulfil(()) }
  }

  package func cancel(_ jobs: [UpdateJob.ID]) async throws(ExchangeFault) {
    for job in jobs { try change(job) { (table, _) in table.cancel([job]) } }
  }

  package func facts(
    of id: String, after number: Int, limit: Int
  ) async throws(ExchangeFault) -> [JobFact] {
    let (facts, waits) = state.withLock { state in
      var run = state.runs[id] ?? Run()
      run.recorded = max(run.recorded, number)
      state.table.forgetFacts(of: id, upTo: run.recorded)
      state.table.expire(now: elapsed())
      let ready = run.workers.filter { $0.fact <= run.recorded }
      run.workers.removeAll { $0.fact <= run.recorded }
      state.runs[id] = run
      return (Array(state.table.facts(of: id).prefix(limit)), ready.map(\.wait))
    }
    for wait in waits { wait.fulfil(true) }
    return facts
  }

  package func arrival(of run: String, after number: Int) async {
    let wait = state.withLock { state -> OneShot<Void>? in
      guard state.table.lastFact(of: run) <= number else { return nil }
      let wait = OneShot<Void>()
      state.runs[run, default: Run()].coordinator = wait
      return wait
    }
    _ = await wait?.wait()
  }

  package func progress(of run: String) async -> [JobProgress] {
    state.withLock { $0.progress.values.filter { $0.job.run == run } }
  }

  package func close(_ run: String) {
    let waits = state.withLock { state in
      let waits = state.runs[run]?.workers.map(\.wait) ?? []
      state.runs[run, default: Run()].isClosed = true
      state.runs[run]?.workers = []
      return waits
    }
    for wait in waits { wait.fulfil(false) }
  }

  package func forget(_ run: String) async throws(ExchangeFault) {
    close(run)
    state.withLock { state in
      state.table.forget(run)
      state.runs[run] = nil
      state.progress = state.progress.filter { $0.key.run != run }
    }
  }

  // MARK: Changes

  /// Changes the table, and wakes the coordinator of the job's run.
  private func change<Value: Sendable>(
    _ job: UpdateJob.ID, ends: Bool = false,
    _ body: (inout JobTable, Duration) throws(ExchangeFault) -> Value
  ) throws(ExchangeFault) -> Value {
    let (result, wait) = state.withLock { state -> (Result<Value, ExchangeFault>, OneShot<Void>?) in
      let before = state.table.lastFact(of: job.run)
      let result: Result<Value, ExchangeFault>
      do throws(ExchangeFault) { result = .success(try body(&state.table, elapsed())) } catch {
        // A late outcome is recorded as a fact although the call fails.
        result = .failure(error)
      }
      if ends { state.progress[job] = nil }
      guard state.table.lastFact(of: job.run) > before else { return (result, nil) }
      defer { state.runs[job.run]?.coordinator = nil }
      return (result, state.runs[job.run]?.coordinator)
    }
    wait?.fulfil(())
    return try result.get()
  }

  /// Changes the table for a worker, and wakes all coordinators with new facts.
  private func change<Value: Sendable>(
    _ worker: FleetWorker, _ body: (inout JobTable, Duration) -> Value
  ) -> Value {
    let (value, waits) = state.withLock { state -> (Value, [OneShot<Void>]) in
      let before = state.runs.keys.map { ($0, state.table.lastFact(of: $0)) }
      let value = body(&state.table, elapsed())
      let waits = before.compactMap { run, last -> OneShot<Void>? in
        guard state.table.lastFact(of: run) > last else { return nil }
        defer { state.runs[run]?.coordinator = nil }
        return state.runs[run]?.coordinator
      }
      return (value, waits)
    }
    for wait in waits { wait.fulfil(()) }
    return value
  }
}
