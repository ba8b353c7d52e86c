import OtaflashFleet
import OtaflashGATT
import Synchronization

/// An exchange for virtual time. A worker without a job waits for the next job instead of polling,
/// because polling would be slow during a soak time of a day.
final class QuietExchange: JobExchange {
  private struct State {
    /// The published and claimed jobs.
    var open: Set<UpdateJob.ID> = []
    var waiter: OneShot<Void>?
  }

  private let base: MemoryExchange
  private let state = Mutex(State())
  private let watch: ForecastWatch?
  private let ended = Mutex(0)

  let outlivesCoordinator = false

  /// - Parameter watch: the watch that counts the attempts and ends the run.
  init(_ watch: ForecastWatch?, _ clock: any LinkClock) {
    self.watch = watch
    base = MemoryExchange(clock: clock)
  }

  /// The number of ended attempts.
  var attempts: Int { ended.withLock { $0 } }

  func open(_ run: String) async throws(ExchangeFault) { try await base.open(run) }

  func publish(_ job: UpdateJob) async throws(ExchangeFault) {
    try await base.publish(job)
    let waiter = state.withLock { state in
      state.open.insert(job.id)
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.fulfil(())
  }

  func claim(
    for worker: FleetWorker, lease: Duration, waitingUpTo wait: Duration
  ) async throws(ExchangeFault) -> JobClaim? {
    if watch?.isOver == true {
      throw .storage(StorageFault(.full, "the time limit of the forecast was reached"))
    }
    let waiter = state.withLock { state -> OneShot<Void>? in
      guard state.open.isEmpty else { return nil }
      let waiter = OneShot<Void>()
      state.waiter = waiter
      return waiter
    }
    if let waiter {
      // A claim that is granted now would be older than the caller assumes; the caller asks again.
      _ = await waiter.wait()
      return nil
    }
    return try await base.claim(for: worker, lease: lease, waitingUpTo: .zero)
  }

  private func close(_ jobs: [UpdateJob.ID]) { state.withLock { $0.open.subtract(jobs) } }

  func claims(of worker: FleetWorker) async throws(ExchangeFault) -> [JobClaim] {
    try await base.claims(of: worker)
  }

  func renew(_ claim: JobClaim, lease: Duration) async throws(ExchangeFault) -> ClaimStanding {
    try await base.renew(claim, lease: lease)
  }

  func report(_ claim: JobClaim, _ event: FleetEvent) async throws(ExchangeFault) {
    try await base.report(claim, event)
  }

  func recorded(_ claim: JobClaim) async throws(ExchangeFault) { try await base.recorded(claim) }

  /// Does nothing, because a forecast has no observers.
  func progress(_ claim: JobClaim, _ progress: JobProgress) {}

  func finish(_ claim: JobClaim, _ ending: AttemptEnding) async throws(ExchangeFault) {
    try await base.finish(claim, ending)
    close([claim.job.id])
    ended.withLock { $0 += 1 }
    watch?.attemptEnded()
  }

  func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault) {
    try await base.release(claim, reason)
    close([claim.job.id])
  }

  func cancel(_ jobs: [UpdateJob.ID]) async throws(ExchangeFault) {
    try await base.cancel(jobs)
    close(jobs)
  }

  func facts(
    of run: String, after number: Int, limit: Int
  ) async throws(ExchangeFault) -> [JobFact] {
    try await base.facts(of: run, after: number, limit: limit)
  }

  func arrival(of run: String, after number: Int) async {
    await base.arrival(of: run, after: number)
  }

  func progress(of run: String) async -> [JobProgress] { [] }

  func close(_ run: String) { base.close(run) }

  func forget(_ run: String) async throws(ExchangeFault) { try await base.forget(run) }
}
