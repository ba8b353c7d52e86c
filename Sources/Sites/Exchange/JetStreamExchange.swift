#if Sites
import FoundationEssentials
import OtaflashFleet
import OtaflashGATT
import OtaflashNATS

/// The exchange over NATS JetStream, for workers at other sites than the coordinator. Correctness
/// does not depend on the delivery of messages: the claim of a device, its facts and its outcome
/// are one entry in the bucket `STATE`, which is changed by compare-and-set. The stream of offers
/// only wakes workers. `docs/engines.md` describes the guarantees.
package final class JetStreamExchange: JobExchange {
  package var outlivesCoordinator: Bool { true }

  private let worker: SiteWorker
  private let coordinator: SiteCoordinator?

  /// - Parameters:
  ///   - coordinator: the coordinator's part; `nil` = the process is a worker, and must not call
  ///   the functions of the coordinator.
  ///   - journal: stores the keys of the claims of this worker.
  ///   - acceptsAnySite: whether workers also receive jobs without a site, and workers without a
  ///     site receive the jobs of all sites. This requires the permissions of the coordinator.
  package init(
    _ stream: JetStream, clock: any LinkClock, coordinator: SiteCoordinator? = nil,
    journal: any ClaimJournal = MemoryClaimJournal(), acceptsAnySite: Bool = false
  ) throws(NATSFault) {
    worker = try SiteWorker(
      stream, clock: clock, journal: journal, acceptsAnySite: acceptsAnySite)
    self.coordinator = coordinator
  }

  // MARK: Workers

  package func claim(
    for worker: FleetWorker, lease: Duration, waitingUpTo wait: Duration
  ) async throws(ExchangeFault) -> JobClaim? {
    try await self.worker.claim(for: worker, lease: lease, waitingUpTo: wait)
  }

  package func claims(of worker: FleetWorker) async throws(ExchangeFault) -> [JobClaim] {
    try await self.worker.claims(of: worker)
  }

  package func renew(
    _ claim: JobClaim, lease: Duration
  ) async throws(ExchangeFault) -> ClaimStanding {
    try await worker.renew(claim, lease: lease)
  }

  package func report(_ claim: JobClaim, _ event: FleetEvent) async throws(ExchangeFault) {
    try await worker.report(claim, event)
  }

  package func recorded(_ claim: JobClaim) async throws(ExchangeFault) {
    try await worker.recorded(claim)
  }

  package func progress(_ claim: JobClaim, _ progress: JobProgress) {
    worker.progress(claim, progress)
  }

  package func finish(_ claim: JobClaim, _ ending: AttemptEnding) async throws(ExchangeFault) {
    try await worker.finish(claim, ending)
  }

  package func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault) {
    try await worker.release(claim, reason)
  }

  /// The ids of the jobs that this worker has claimed.
  package var claimedJobs: [UpdateJob.ID] { worker.claimedJobs }

  // MARK: The coordinator

  private var leader: SiteCoordinator {
    guard let coordinator else { preconditionFailure("a worker calls the coordinator's function") }
    return coordinator
  }

  package func open(_ run: String) async throws(ExchangeFault) { try await leader.open(run) }

  package func publish(_ job: UpdateJob) async throws(ExchangeFault) {
    try await leader.publish(job)
  }

  package func publish(all jobs: [UpdateJob]) async throws(ExchangeFault) {
    try await leader.publish(all: jobs)
  }

  package func cancel(_ jobs: [UpdateJob.ID]) async throws(ExchangeFault) {
    try await leader.cancel(jobs)
  }

  package func facts(
    of run: String, after number: Int, limit: Int
  ) async throws(ExchangeFault) -> [JobFact] {
    try await leader.facts(of: run, after: number, limit: limit)
  }

  package func arrival(of run: String, after number: Int) async {
    await leader.arrival(of: run, after: number)
  }

  package func progress(of run: String) async -> [JobProgress] { leader.progress(of: run) }

  package func close(_ run: String) { leader.close(run) }

  package func forget(_ run: String) async throws(ExchangeFault) { try await leader.forget(run) }
}

extension JobProgress {
  /// Decodes an entry of the bucket `PROGRESS`; returns `nil` if the entry is not valid.
  init?(_ entry: KeyValueEntry) {
    guard !entry.isDeleted else { return nil }
    do { self = try JSONDecoder().decode(JobProgress.self, from: Data(entry.value)) } catch {
      return nil
    }
  }

  var bytesOfEntry: [UInt8] {
    do { return Array(try JSONEncoder().encode(self)) } catch {
      preconditionFailure("progress cannot be encoded: \(error)")
    }
  }
}
#endif
