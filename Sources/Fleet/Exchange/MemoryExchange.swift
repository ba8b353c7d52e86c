import Synchronization

/// An exchange that forgets everything with its process: for simulations, and to try rules.
package final class MemoryExchange: JobExchange {
  private struct State {
    var table = JobTable()
    var news: [JobNews] = []
    var blobs: [String: [UInt8]] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  @discardableResult
  package func publish(_ jobs: [FleetJob]) async throws(ExchangeFault) -> [FleetJob.ID] {
    try change { (table) throws(ExchangeFault) in
      (table.ended(among: jobs), try table.publish(jobs))
    }
  }

  package func claim(
    for worker: FleetWorker, now: FleetTime, lease: Duration
  ) async throws(ExchangeFault) -> JobClaim? {
    try change { (table) throws(ExchangeFault) in
      let (claim, change) = table.claim(for: worker, now: now, lease: lease)
      return (claim, change)
    }
  }

  package func renew(
    _ claim: JobClaim, now: FleetTime, lease: Duration
  ) async throws(ExchangeFault) -> ClaimStanding {
    try change { (table) throws(ExchangeFault) in
      let (standing, change) = try table.renew(claim, now: now, lease: lease)
      return (standing, change)
    }
  }

  package func report(_ claim: JobClaim, _ report: JobReport) async throws(ExchangeFault) {
    try change { (table) throws(ExchangeFault) in ((), try table.report(claim, report)) }
  }

  package func finish(_ claim: JobClaim, _ ending: AttemptEnding) async throws(ExchangeFault) {
    try change { (table) throws(ExchangeFault) in ((), try table.finish(claim, ending)) }
  }

  package func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault) {
    try change { (table) throws(ExchangeFault) in ((), table.release(claim, reason)) }
  }

  package func cancel(_ jobs: [FleetJob.ID]) async throws(ExchangeFault) {
    try change { (table) throws(ExchangeFault) in ((), table.cancel(jobs)) }
  }

  package func keep(blob: [UInt8], digest: String) async throws(ExchangeFault) {
    state.withLock { $0.blobs[digest] = blob }
  }

  package func blob(_ digest: String) async throws(ExchangeFault) -> [UInt8] {
    guard let blob = state.withLock({ $0.blobs[digest] }) else {
      throw .unknownBlob(digest: digest)
    }
    return blob
  }

  package func news(
    after number: Int, now: FleetTime, limit: Int
  ) async throws(ExchangeFault) -> [JobNews] {
    try change { (table) throws(ExchangeFault) in ((), table.expire(now: now)) }
    return state.withLock { Array($0.news.dropFirst(number).prefix(limit)) }
  }

  /// A new process: the claims of the one before it are given up.
  package func abandonClaims() {
    state.withLock { state in state.news += state.table.abandonClaims().news }
  }

  private func change<Value: Sendable>(
    _ body: (inout JobTable) throws(ExchangeFault) -> (Value, JobTable.Change)
  ) throws(ExchangeFault) -> Value {
    try state.withLock { (state) throws(ExchangeFault) -> Value in
      let (value, change) = try body(&state.table)
      state.news += change.news
      return value
    }
  }
}
