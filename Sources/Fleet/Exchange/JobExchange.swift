/// The interface between the coordinator, which follows `FleetRules`, and the workers, which have
/// adapters. Workers report facts; only the coordinator records them as events of the run. A device
/// has at most one open job; a claim ends when its lease expires; a job that has ended stays ended.
/// A claim may be lost at any time, and a fact may arrive late or twice.
///
/// No clock value crosses the interface: a lease is a duration, which the exchange measures by its
/// clock. A worker measures its deadline by its own clock, from before the call that extended its
/// lease. Each call may fail as `.unavailable` and take effect nevertheless; each call may
/// therefore be repeated.
///
/// `MemoryExchange` is for workers in the coordinator's process; `docs/engines.md` describes how to
/// implement the protocol for workers of other sites, and the conformance suite checks an
/// implementation.
package protocol JobExchange: Sendable {
  /// Whether workers and their claims outlive the coordinator. A coordinator that restarts then
  /// waits for their outcomes; otherwise it records that their attempts ended.
  var outlivesCoordinator: Bool { get }

  // MARK: Workers

  /// Claims the job that has waited longest for a worker of this worker's site, and returns the
  /// claim. If no job waits, waits for a job for at most `wait`; then returns `nil`. Cancellation
  /// ends the wait.
  func claim(
    for worker: FleetWorker, lease: Duration, waitingUpTo wait: Duration
  ) async throws(ExchangeFault) -> JobClaim?

  /// Returns the claims that a worker holds. The worker may have restarted, or the reply to `claim`
  /// may have been lost.
  func claims(of worker: FleetWorker) async throws(ExchangeFault) -> [JobClaim]

  /// Extends a claim to `lease` from now.
  ///
  /// - Throws: `.claimLost`.
  func renew(_ claim: JobClaim, lease: Duration) async throws(ExchangeFault) -> ClaimStanding

  /// Reports an event of the job before its end.
  ///
  /// - Throws: `.claimLost`.
  func report(_ claim: JobClaim, _ event: FleetEvent) async throws(ExchangeFault)

  /// Waits until all reported facts of the job are recorded. A worker calls this function before a
  /// step that the next worker of the job must take into account.
  ///
  /// - Throws: `.notRecorded`; the worker must then not execute the step.
  func recorded(_ claim: JobClaim) async throws(ExchangeFault)

  /// Reports the progress of a transfer. Returns immediately; any value may be lost.
  func progress(_ claim: JobClaim, _ progress: JobProgress)

  /// Ends the job with the outcome of the attempt. A repetition of a successful call succeeds.
  ///
  /// - Throws: `.claimLost`; then another worker may report the outcome of the job, and `ending`
  ///   becomes a fact (`outcomeReportedLate`) unless it is `returned`.
  func finish(_ claim: JobClaim, _ ending: AttemptEnding) async throws(ExchangeFault)

  /// Returns the job. A lost claim is ignored. A job that is returned as `notHeard` is offered to
  /// other workers until its search time ends, and to this worker again after
  /// `JobTable.searchDelay`; with any other reason the attempt ends.
  func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault)

  // MARK: The coordinator

  /// Declares that a coordinator records the facts of a run.
  func open(_ run: String) async throws(ExchangeFault)

  /// Offers a job after the jobs that wait. A job that was already published stays unchanged, and
  /// an attempt before the newest of its device is ignored.
  ///
  /// - Throws: `.deviceTaken`.
  func publish(_ job: UpdateJob) async throws(ExchangeFault)

  /// Offers jobs of different devices, as `publish(_:)` does for each. If the call fails, some of
  /// them may be offered. An exchange with a server may offer several jobs at a time.
  func publish(all jobs: [UpdateJob]) async throws(ExchangeFault)

  /// Cancels jobs: waiting jobs end immediately, claimed jobs at the next renewal by their worker.
  func cancel(_ jobs: [UpdateJob.ID]) async throws(ExchangeFault)

  /// Returns at most `limit` facts of a run after fact `number`, the oldest first. The call also
  /// states that the facts up to `number` are recorded. The facts include expired claims.
  func facts(
    of run: String, after number: Int, limit: Int
  ) async throws(ExchangeFault) -> [JobFact]

  /// Waits for a fact of a run after fact `number`, or for cancellation of the task.
  func arrival(of run: String, after number: Int) async

  /// Returns the last known progress of the open jobs of a run.
  func progress(of run: String) async -> [JobProgress]

  /// Declares that the coordinator records no more facts of a run.
  func close(_ run: String)

  /// Removes the jobs and facts of a run that has ended.
  func forget(_ run: String) async throws(ExchangeFault)
}

extension JobExchange {
  package func publish(all jobs: [UpdateJob]) async throws(ExchangeFault) {
    for job in jobs { try await publish(job) }
  }
}
