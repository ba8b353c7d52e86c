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

  private let base = MemoryExchange()
  private let state = Mutex(State())
  private let watch: ForecastWatch?
  private let ended = Mutex(0)

  /// - Parameter watch: the watch that counts the attempts and ends the run.
  init(_ watch: ForecastWatch?) { self.watch = watch }

  /// The number of ended attempts.
  var attempts: Int { ended.withLock { $0 } }

  func publish(_ jobs: [UpdateJob]) async throws(ExchangeFault) {
    try await base.publish(jobs)
    let waiter = state.withLock { state in
      state.open.formUnion(jobs.map(\.id))
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.fulfil(())
  }

  func claim(
    for worker: FleetWorker, now: WallClockTime, lease: Duration
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
      // `now` is outdated after the wait, so the caller asks again with a new time.
      _ = await waiter.wait()
      return nil
    }
    return try await base.claim(for: worker, now: now, lease: lease)
  }

  private func close(_ jobs: [UpdateJob.ID]) { state.withLock { $0.open.subtract(jobs) } }

  func renew(
    _ claim: JobClaim, now: WallClockTime, lease: Duration
  ) async throws(ExchangeFault) -> ClaimStanding {
    try await base.renew(claim, now: now, lease: lease)
  }

  func report(_ claim: JobClaim, _ event: FleetEvent) async throws(ExchangeFault) {
    try await base.report(claim, event)
  }

  func recorded() async throws(ExchangeFault) { try await base.recorded() }

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
    after number: Int, now: WallClockTime, limit: Int
  ) async throws(ExchangeFault) -> [JobFact] {
    try await base.facts(after: number, now: now, limit: limit)
  }

  func arrival(after number: Int) async { await base.arrival(after: number) }

  func close() { base.close() }
}
