/// The jobs of an exchange and their claims: the rules of `JobExchange` as a value. Each change
/// adds its facts. `now` is a time of the exchange's clock.
package struct JobTable: Sendable {
  /// The time for which a worker that returned a job as `notHeard` is not offered the job again.
  package static let searchDelay = Duration.seconds(10)

  private enum State: Hashable, Sendable {
    case waiting
    case claimed(worker: String, until: Duration, isRecalled: Bool)
    case over(epoch: Int, ending: AttemptEnding)
  }

  private struct Row: Sendable {
    var job: UpdateJob
    /// The order of publication.
    let order: Int
    var state = State.waiting
    var epoch = 0
    /// The epoch of the newest claim whose late outcome was reported as a fact.
    var lateEpoch = 0
    /// The end of the search, after the first return as `notHeard`.
    var searchEnds: Duration?
    /// The workers that are not offered the job until a time.
    var resting: [String: Duration] = [:]
  }

  private struct Device: Hashable {
    let run: String
    let id: FleetDevice.ID

    init(_ job: UpdateJob.ID) { (run, id) = (job.run, job.device) }
  }

  /// The facts of a run that are not recorded yet.
  private struct Facts: Sendable {
    var waiting: [JobFact] = []
    var last = 0
  }

  private var facts: [String: Facts] = [:]
  private var rows: [UpdateJob.ID: Row] = [:]
  /// The newest attempt of each device of a run; rows of older attempts are removed.
  private var newest: [Device: Int] = [:]
  /// The open job of each device.
  private var open: [FleetDevice.ID: UpdateJob.ID] = [:]
  /// The waiting jobs of each site, in order; some entries may be stale.
  private var waiting: [String?: BinaryHeap<Waiting>] = [:]
  /// The waiting jobs that a worker returned as `notHeard`, in order of return.
  private var searched: [UpdateJob.ID] = []
  /// The claims by expiry; some entries may be stale.
  private var leases = BinaryHeap<Lease>()
  private var nextOrder = 1

  private struct Waiting: Comparable {
    let order: Int
    let job: UpdateJob.ID

    static func < (left: Waiting, right: Waiting) -> Bool { left.order < right.order }
  }

  private struct Lease: Comparable {
    let until: Duration
    let epoch: Int
    let job: UpdateJob.ID

    static func < (left: Lease, right: Lease) -> Bool { left.until < right.until }
  }

  package init() {}

  /// The number of stored jobs.
  package var count: Int { rows.count }

  // MARK: Facts

  /// Returns the number of the last fact of a run.
  package func lastFact(of run: String) -> Int { facts[run]?.last ?? 0 }

  /// Returns the facts of a run that are not recorded yet.
  package func facts(of run: String) -> [JobFact] { facts[run]?.waiting ?? [] }

  /// Removes the recorded facts up to fact `number`.
  package mutating func forgetFacts(of run: String, upTo number: Int) {
    guard let count = facts[run]?.waiting.prefix(while: { $0.number <= number }).count else {
      return
    }
    facts[run]?.waiting.removeFirst(count)
  }

  // MARK: The calls

  package mutating func publish(_ job: UpdateJob) throws(ExchangeFault) {
    let device = Device(job.id)
    guard rows[job.id] == nil, newest[device] ?? 0 < job.id.attempt else { return }
    if let other = open[job.id.device] { throw .deviceTaken(by: other) }
    if let former = newest.updateValue(job.id.attempt, forKey: device) {
      rows[UpdateJob.ID(run: device.run, device: device.id, attempt: former)] = nil
    }
    put(Row(job: job, order: nextOrder))
    nextOrder += 1
  }

  package mutating func claim(
    for worker: FleetWorker, now: Duration, lease: Duration
  ) -> JobClaim? {
    expire(now: now)
    guard let id = takeWaiting(for: worker, now: now), var row = rows[id] else { return nil }
    row.epoch += 1
    row.state = .claimed(worker: worker.name, until: now + lease, isRecalled: false)
    put(
      row, .deviceClaimed(device: id.device, attempt: id.attempt, worker: worker.name))
    return JobClaim(job: row.job, worker: worker.name, epoch: row.epoch)
  }

  package mutating func claims(of worker: FleetWorker, now: Duration) -> [JobClaim] {
    expire(now: now)
    return open.values.compactMap { id -> (order: Int, claim: JobClaim)? in
      guard let row = rows[id], case .claimed(worker.name, _, _) = row.state else { return nil }
      return (row.order, JobClaim(job: row.job, worker: worker.name, epoch: row.epoch))
    }.sorted { $0.order < $1.order }.map(\.claim)
  }

  package mutating func renew(
    _ claim: JobClaim, now: Duration, lease: Duration
  ) throws(ExchangeFault) -> ClaimStanding {
    var (row, isRecalled) = try held(claim, now: now)
    row.state = .claimed(worker: claim.worker, until: now + lease, isRecalled: isRecalled)
    put(row)
    return isRecalled ? .recalled : .held
  }

  package mutating func report(
    _ claim: JobClaim, _ event: FleetEvent, now: Duration
  ) throws(ExchangeFault) {
    var (row, _) = try held(claim, now: now)
    // After this claim expires, the next worker verifies the running image first.
    if case .deviceActivating = event { row.job.verifyFirst = true }
    put(row, event)
  }

  package mutating func finish(
    _ claim: JobClaim, _ ending: AttemptEnding, now: Duration
  ) throws(ExchangeFault) {
    // The reply to the same call may have been lost.
    if rows[claim.job.id]?.state == .over(epoch: claim.epoch, ending: ending) { return }
    do throws(ExchangeFault) { end(try held(claim, now: now).row, ending) } catch {
      noteLate(claim, ending)
      throw error
    }
  }

  package mutating func release(_ claim: JobClaim, _ reason: ReturnReason, now: Duration) {
    do throws(ExchangeFault) {
      var (row, isRecalled) = try held(claim, now: now)
      let searchEnds = row.searchEnds ?? now + row.job.order.search
      guard reason == .notHeard, !isRecalled, now < searchEnds else {
        return end(row, .returned(isRecalled && reason == .notHeard ? .recalled : reason))
      }
      row.searchEnds = searchEnds
      row.resting[claim.worker] = now + Self.searchDelay
      row.state = .waiting
      let id = row.job.id
      put(
        row, .deviceNotInRange(device: id.device, attempt: id.attempt, worker: claim.worker))
    } catch {
      // Another worker has the job, or the job has ended.
    }
  }

  package mutating func cancel(_ jobs: [UpdateJob.ID]) {
    for id in jobs {
      guard var row = rows[id] else { continue }
      switch row.state {
      case .over: break
      case .waiting: end(row, .returned(.recalled))
      case .claimed(let worker, let until, _):
        row.state = .claimed(worker: worker, until: until, isRecalled: true)
        put(row)
      }
    }
  }

  /// Offers jobs again whose claims expired; cancelled jobs end instead.
  package mutating func expire(now: Duration) {
    while let lease = leases.first, lease.until <= now {
      leases.removeFirst()
      guard var row = rows[lease.job], row.epoch == lease.epoch,
        case .claimed(_, let until, let isRecalled) = row.state, until == lease.until
      else { continue }
      if isRecalled {
        end(row, .returned(.recalled))
      } else {
        row.state = .waiting
        put(row, .claimExpired(device: lease.job.device, attempt: lease.job.attempt))
      }
    }
  }

  /// Removes the jobs and facts of a run.
  package mutating func forget(_ run: String) {
    facts[run] = nil
    for id in rows.keys where id.run == run {
      rows[id] = nil
      newest[Device(id)] = nil
      if open[id.device] == id { open[id.device] = nil }
    }
    searched.removeAll { $0.run == run }
  }

  // MARK: The rows

  /// Returns the row of the job of a valid claim.
  ///
  /// - Throws: `.claimLost`, also if the lease has ended but no other worker has claimed the job.
  private mutating func held(
    _ claim: JobClaim, now: Duration
  ) throws(ExchangeFault) -> (row: Row, isRecalled: Bool) {
    expire(now: now)
    guard let row = rows[claim.job.id], row.epoch == claim.epoch,
      case .claimed(claim.worker, _, let isRecalled) = row.state
    else { throw .claimLost(claim.job.id) }
    return (row, isRecalled)
  }

  /// Adds the outcome of a lost claim as a fact, at most once. The outcome is correct, although it
  /// does not end the job.
  private mutating func noteLate(_ claim: JobClaim, _ ending: AttemptEnding) {
    let id = claim.job.id
    if case .returned = ending { return }
    guard var row = rows[id], row.lateEpoch < claim.epoch, claim.epoch <= row.epoch else { return }
    if case .over(claim.epoch, _) = row.state { return }
    row.lateEpoch = claim.epoch
    put(
      row,
      .outcomeReportedLate(
        device: id.device, attempt: id.attempt, worker: claim.worker, ending: ending))
  }

  private mutating func end(_ row: Row, _ ending: AttemptEnding) {
    var row = row
    row.state = .over(epoch: row.epoch, ending: ending)
    let id = row.job.id
    put(row, .attemptEnded(device: id.device, attempt: id.attempt, ending: ending))
  }

  private mutating func put(_ row: Row, _ event: FleetEvent) {
    put(row)
    let id = row.job.id
    let number = lastFact(of: id.run) + 1
    facts[id.run, default: Facts()].last = number
    facts[id.run]?.waiting.append(JobFact(number: number, job: id, event: event))
  }

  private mutating func put(_ row: Row) {
    let former = rows.updateValue(row, forKey: row.job.id)
    switch row.state {
    case .waiting:
      open[row.job.id.device] = row.job.id
      guard former?.state != .waiting else { return }
      if row.resting.isEmpty {
        waiting[row.job.site, default: BinaryHeap()].insert(
          Waiting(order: row.order, job: row.job.id))
      } else {
        searched.append(row.job.id)
      }
    case .claimed(_, let until, _):
      open[row.job.id.device] = row.job.id
      leases.insert(Lease(until: until, epoch: row.epoch, job: row.job.id))
    case .over:
      if open[row.job.id.device] == row.job.id { open[row.job.id.device] = nil }
    }
  }

  /// Removes a job of the worker's site from the waiting jobs, and returns it: a job that was
  /// returned as `notHeard` (see `takeSearched`), or else the oldest job.
  private mutating func takeWaiting(for worker: FleetWorker, now: Duration) -> UpdateJob.ID? {
    if let id = takeSearched(for: worker, now: now) { return id }
    let sites = worker.site.map { [$0, nil] } ?? Array(waiting.keys)
    var best: (site: String?, entry: Waiting)?
    for site in sites {
      guard let entry = firstWaiting(at: site) else { continue }
      if let best, best.entry < entry { continue }
      best = (site, entry)
    }
    guard let best else { return nil }
    waiting[best.site]?.removeFirst()
    return best.entry.job
  }

  private mutating func firstWaiting(at site: String?) -> Waiting? {
    while let entry = waiting[site]?.first {
      if let row = rows[entry.job], row.state == .waiting, row.order == entry.order {
        return entry
      }
      waiting[site]?.removeFirst()
    }
    return nil
  }

  /// Returns the first job of the worker's site that another worker returned as `notHeard`, or that
  /// this worker returned at least `searchDelay` ago.
  private mutating func takeSearched(for worker: FleetWorker, now: Duration) -> UpdateJob.ID? {
    guard !searched.isEmpty else { return nil }
    searched.removeAll { rows[$0]?.state != .waiting }
    let index = searched.firstIndex { id in
      guard let row = rows[id] else { return false }
      return (worker.site == nil || row.job.site == nil || row.job.site == worker.site)
        && row.resting[worker.name] ?? .zero <= now
    }
    return index.map { searched.remove(at: $0) }
  }
}
