#if Fleet
import OtaflashFleet
import OtaflashGATT
import Synchronization

/// An exchange whose connection to the workers loses requests and replies.
final class FlakyExchange: JobExchange {
  enum Call: CaseIterable {
    case claim, claims, renew, report, recorded, finish, release
  }

  enum Fate {
    case works
    /// The call has no effect.
    case requestLost
    /// The call takes effect, but the worker receives no reply.
    case replyLost
  }

  typealias Script = @Sendable (Call, _ number: Int, _ at: Duration) -> Fate

  let outlivesCoordinator = false
  private let base: MemoryExchange
  private let clock: any LinkClock
  private let script: Script
  private let counts = Mutex<[Call: Int]>([:])
  private let lost: Mutex<Int> = Mutex(0)

  init(_ clock: any LinkClock, _ script: @escaping Script) {
    base = MemoryExchange(clock: clock)
    self.clock = clock
    self.script = script
  }

  /// The number of calls of which the request or the reply was lost.
  var lostCount: Int { lost.withLock { $0 } }

  private func calling<Value>(
    _ call: Call, _ body: () async throws(ExchangeFault) -> Value
  ) async throws(ExchangeFault) -> Value {
    let number = counts.withLock { counts in
      counts[call, default: 0] += 1
      return counts[call] ?? 0
    }
    switch script(call, number, clock.now.elapsed) {
    case .works: return try await body()
    case .requestLost: break
    case .replyLost:
      do throws(ExchangeFault) { _ = try await body() } catch {
        // The reply is lost, even if the reply is an error.
      }
    }
    lost.withLock { $0 += 1 }
    throw .unavailable(words: "no reply")
  }

  func claim(
    for worker: FleetWorker, lease: Duration, waitingUpTo wait: Duration
  ) async throws(ExchangeFault) -> JobClaim? {
    try await calling(.claim) { () async throws(ExchangeFault) in
      try await base.claim(for: worker, lease: lease, waitingUpTo: wait)
    }
  }

  func claims(of worker: FleetWorker) async throws(ExchangeFault) -> [JobClaim] {
    try await calling(.claims) { () async throws(ExchangeFault) in
      try await base.claims(of: worker)
    }
  }

  func renew(_ claim: JobClaim, lease: Duration) async throws(ExchangeFault) -> ClaimStanding {
    try await calling(.renew) { () async throws(ExchangeFault) in
      try await base.renew(claim, lease: lease)
    }
  }

  func report(_ claim: JobClaim, _ event: FleetEvent) async throws(ExchangeFault) {
    try await calling(.report) { () async throws(ExchangeFault) in
      try await base.report(claim, event)
    }
  }

  func recorded(_ claim: JobClaim) async throws(ExchangeFault) {
    try await calling(.recorded) { () async throws(ExchangeFault) in
      try await base.recorded(claim)
    }
  }

  func progress(_ claim: JobClaim, _ progress: JobProgress) { base.progress(claim, progress) }

  func finish(_ claim: JobClaim, _ ending: AttemptEnding) async throws(ExchangeFault) {
    try await calling(.finish) { () async throws(ExchangeFault) in
      try await base.finish(claim, ending)
    }
  }

  func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault) {
    try await calling(.release) { () async throws(ExchangeFault) in
      try await base.release(claim, reason)
    }
  }

  func open(_ run: String) async throws(ExchangeFault) { try await base.open(run) }

  func publish(_ job: UpdateJob) async throws(ExchangeFault) { try await base.publish(job) }

  func cancel(_ jobs: [UpdateJob.ID]) async throws(ExchangeFault) { try await base.cancel(jobs) }

  func facts(
    of run: String, after number: Int, limit: Int
  ) async throws(ExchangeFault) -> [JobFact] {
    try await base.facts(of: run, after: number, limit: limit)
  }

  func arrival(of run: String, after number: Int) async {
    await base.arrival(of: run, after: number)
  }

  func progress(of run: String) async -> [JobProgress] { await base.progress(of: run) }

  func close(_ run: String) { base.close(run) }

  func forget(_ run: String) async throws(ExchangeFault) { try await base.forget(run) }
}
#endif
