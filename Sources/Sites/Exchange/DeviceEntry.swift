#if Sites
import OtaflashFleet

/// The entry of one device in the bucket `STATE`: the newest job of the device in each run, with
/// the claim and the facts of the job. Each change is one compare-and-set, so a claim, its facts
/// and its outcome cannot contradict each other. Coordinators and workers follow the same rules as
/// `JobTable`; only the coordinator measures time.
package struct DeviceEntry: Hashable, Sendable, Codable {
  package enum State: Hashable, Sendable, Codable {
    case waiting
    /// A worker returned the job, because the device was not in range (`notHeard`). The coordinator
    /// offers the job again later.
    case returned
    case claimed(worker: String)
    case over(AttemptEnding)
  }

  /// A fact with its number, which is unique in the entry and the run.
  package struct Fact: Hashable, Sendable, Codable {
    package let number: Int
    package let event: FleetEvent
    /// The number of the claim that reported the fact; `nil` if the coordinator reported the fact.
    package let epoch: Int?
  }

  /// The newest job of the device in one run.
  package struct Job: Hashable, Sendable, Codable {
    package internal(set) var job: UpdateJob
    package internal(set) var state = State.waiting
    package internal(set) var epoch = 0
    /// The lease of the current claim, in milliseconds.
    package internal(set) var leaseMilliseconds = 0
    /// The number of renewals, which makes each renewal a new revision.
    package internal(set) var renewals = 0
    package internal(set) var isRecalled = false
    /// The number of the newest claim whose outcome was added as a fact after the claim was lost.
    package internal(set) var lateEpoch = 0
    /// The number of times that workers returned the job as `notHeard`.
    package internal(set) var returns = 0
    /// Whether the next return of the job ends the attempt.
    package internal(set) var isSearchOver = false
    package internal(set) var facts: [Fact] = []
    package internal(set) var factCount = 0

    package var isOpen: Bool { if case .over = state { false } else { true } }

    package var isClaimed: Bool { if case .claimed = state { true } else { false } }
  }

  /// The jobs by run.
  package internal(set) var jobs: [String: Job] = [:]

  package init() {}

  /// The open job; at most one job of a device is open.
  package var open: Job? { jobs.values.first(where: \.isOpen) }

  package var isEmpty: Bool { jobs.isEmpty }

  /// Returns this entry, in which each job that equals the job of an earlier revision shares the
  /// storage of the earlier job. A decoded job has its own copies of all texts, which are several
  /// kilobytes for each device.
  func sharing(jobsOf former: DeviceEntry) -> DeviceEntry {
    var entry = self
    for (run, row) in jobs {
      guard let known = former.jobs[run]?.job, known == row.job else { continue }
      entry.jobs[run]?.job = known
    }
    return entry
  }

  // MARK: Workers

  /// Claims the waiting job; returns `nil` if no job is waiting.
  package mutating func claim(for worker: FleetWorker, lease: Duration) -> JobClaim? {
    guard var row = open, row.state == .waiting else { return nil }
    row.epoch += 1
    row.state = .claimed(worker: worker.name)
    row.leaseMilliseconds = lease.milliseconds
    let id = row.job.id
    row.note(.deviceClaimed(device: id.device, attempt: id.attempt, worker: worker.name))
    jobs[id.run] = row
    return JobClaim(job: row.job, worker: worker.name, epoch: row.epoch)
  }

  /// Returns the claim of a worker on this device; `nil` if the worker has no claim.
  package func claim(of worker: String) -> JobClaim? {
    guard let row = open, row.state == .claimed(worker: worker) else { return nil }
    return JobClaim(job: row.job, worker: worker, epoch: row.epoch)
  }

  package mutating func renew(
    _ claim: JobClaim, lease: Duration
  ) throws(ExchangeFault) -> ClaimStanding {
    var row = try held(claim)
    row.leaseMilliseconds = lease.milliseconds
    row.renewals += 1
    jobs[claim.job.id.run] = row
    return row.isRecalled ? .recalled : .held
  }

  package mutating func report(_ claim: JobClaim, _ event: FleetEvent) throws(ExchangeFault) {
    var row = try held(claim)
    // The call may be a repetition whose first reply was lost.
    guard !row.facts.contains(where: { $0.epoch == claim.epoch && $0.event == event }) else {
      return
    }
    // After this claim expires, the next worker verifies the running image first.
    if case .deviceActivating = event { row.job.verifyFirst = true }
    row.note(event, epoch: claim.epoch)
    jobs[claim.job.id.run] = row
  }

  /// Ends a claim with its outcome. If the claim was lost and no newer job was published, the
  /// outcome is added once as a fact, unless it is `returned`.
  ///
  /// - Returns: whether this call or an earlier call ended the claim with this outcome.
  package mutating func finish(_ claim: JobClaim, _ ending: AttemptEnding) -> Bool {
    let id = claim.job.id
    guard var row = jobs[id.run], row.job.id == id else { return false }
    if row.epoch == claim.epoch, row.state == .over(ending) { return true }
    if row.epoch == claim.epoch, row.state == .claimed(worker: claim.worker) {
      row.end(ending, epoch: claim.epoch)
      jobs[id.run] = row
      return true
    }
    if case .returned = ending { return false }
    guard row.lateEpoch < claim.epoch, claim.epoch <= row.epoch, !row.isEnded(by: claim) else {
      return false
    }
    row.lateEpoch = claim.epoch
    row.note(
      .outcomeReportedLate(
        device: id.device, attempt: id.attempt, worker: claim.worker, ending: ending),
      epoch: claim.epoch)
    jobs[id.run] = row
    return false
  }

  package mutating func release(_ claim: JobClaim, _ reason: ReturnReason) {
    let row: Job
    do throws(ExchangeFault) { row = try held(claim) } catch { return }
    jobs[claim.job.id.run] = row.released(by: claim, reason)
  }

  private func held(_ claim: JobClaim) throws(ExchangeFault) -> Job {
    guard let row = jobs[claim.job.id.run], row.job.id == claim.job.id, row.epoch == claim.epoch,
      row.state == .claimed(worker: claim.worker)
    else { throw .claimLost(claim.job.id) }
    return row
  }

  // MARK: The coordinator

  /// Adds a job. A known job stays unchanged, and an attempt that is older than the newest attempt
  /// is ignored.
  ///
  /// - Parameter recorded: the number of the last recorded fact of the run in this entry.
  package mutating func publish(_ job: UpdateJob, recorded: Int) throws(ExchangeFault) {
    let former = jobs[job.id.run]
    if let former, former.job.id.attempt >= job.id.attempt { return }
    if let open { throw .deviceTaken(by: open.job.id) }
    var row = Job(job: job)
    row.factCount = former?.factCount ?? 0
    row.facts = former?.facts.filter { $0.number > recorded } ?? []
    jobs[job.id.run] = row
  }

  package mutating func cancel(_ id: UpdateJob.ID) {
    guard var row = jobs[id.run], row.job.id == id else { return }
    switch row.state {
    case .over: return
    case .waiting, .returned: row.end(.returned(.recalled))
    case .claimed: row.isRecalled = true
    }
    jobs[id.run] = row
  }

  /// Ends the claim of a job. The caller must have measured that the lease of the claim expired.
  package mutating func expire(_ id: UpdateJob.ID) {
    guard var row = jobs[id.run], row.job.id == id, row.isClaimed else { return }
    if row.isRecalled {
      row.end(.returned(.recalled))
    } else {
      row.state = .waiting
      row.note(.claimExpired(device: id.device, attempt: id.attempt))
    }
    jobs[id.run] = row
  }

  /// Offers a job again that was returned as `notHeard`.
  package mutating func offerAgain(_ id: UpdateJob.ID) {
    guard jobs[id.run]?.job.id == id, jobs[id.run]?.state == .returned else { return }
    jobs[id.run]?.state = .waiting
  }

  /// Records that the search time of an open job has expired.
  package mutating func endSearch(_ id: UpdateJob.ID) {
    guard let row = jobs[id.run], row.job.id == id, row.isOpen else { return }
    jobs[id.run]?.isSearchOver = true
  }

  package mutating func forget(_ run: String) { jobs[run] = nil }
}

extension DeviceEntry.Job {
  package var lease: Duration { .milliseconds(leaseMilliseconds) }

  fileprivate func isEnded(by claim: JobClaim) -> Bool {
    if case .over = state { epoch == claim.epoch } else { false }
  }

  fileprivate mutating func note(_ event: FleetEvent, epoch: Int? = nil) {
    factCount += 1
    facts.append(DeviceEntry.Fact(number: factCount, event: event, epoch: epoch))
  }

  fileprivate mutating func end(_ ending: AttemptEnding, epoch: Int? = nil) {
    state = .over(ending)
    note(
      .attemptEnded(device: job.id.device, attempt: job.id.attempt, ending: ending), epoch: epoch)
  }

  fileprivate func released(by claim: JobClaim, _ reason: ReturnReason) -> DeviceEntry.Job {
    var row = self
    guard reason == .notHeard, !isRecalled, !isSearchOver, job.order.search > .zero else {
      row.end(.returned(isRecalled && reason == .notHeard ? .recalled : reason), epoch: claim.epoch)
      return row
    }
    row.returns += 1
    row.state = .returned
    row.note(
      .deviceNotInRange(device: job.id.device, attempt: job.id.attempt, worker: claim.worker),
      epoch: claim.epoch)
    return row
  }
}

extension Duration {
  fileprivate var milliseconds: Int {
    let (seconds, attoseconds) = components
    return Int(clamping: seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
  }
}
#endif
