/// The jobs of an exchange and their claims: the rules of `JobExchange` as a value. Each change
/// adds its facts.
package struct JobTable: Sendable {
  private enum State: Hashable, Sendable {
    case waiting
    case claimed(worker: String, until: WallClockTime, isRecalled: Bool)
    case over
  }

  private struct Row: Sendable {
    var job: UpdateJob
    /// The order of publication.
    let order: Int
    var state: State
    var epoch: Int
  }

  /// The facts that are not recorded yet.
  package private(set) var facts: [JobFact] = []
  package private(set) var lastFact = 0
  private var rows: [UpdateJob.ID: Row] = [:]
  /// The open job of each device.
  private var open: [FleetDevice.ID: UpdateJob.ID] = [:]
  /// The waiting jobs, in order; some entries may be stale.
  private var waiting: [String?: BinaryHeap<Waiting>] = [:]
  /// The claims by expiry; some entries may be stale.
  private var leases = BinaryHeap<Lease>()
  private var nextOrder = 1

  private struct Waiting: Comparable {
    let order: Int
    let job: UpdateJob.ID

    static func < (left: Waiting, right: Waiting) -> Bool { left.order < right.order }
  }

  private struct Lease: Comparable {
    let until: WallClockTime
    let epoch: Int
    let job: UpdateJob.ID

    static func < (left: Lease, right: Lease) -> Bool { left.until < right.until }
  }

  package init() {}

  /// Removes the recorded facts up to fact `number`.
  package mutating func forgetFacts(upTo number: Int) {
    facts.removeFirst(facts.prefix { $0.number <= number }.count)
  }

  // MARK: The calls

  package mutating func publish(_ jobs: [UpdateJob]) throws(ExchangeFault) {
    var devices = open
    var fresh: [UpdateJob] = []
    for job in jobs where rows[job.id] == nil {
      if let other = devices[job.id.device] {
        if other == job.id { continue }
        throw .deviceTaken(by: other)
      }
      devices[job.id.device] = job.id
      fresh.append(job)
    }
    for job in fresh {
      put(Row(job: job, order: nextOrder, state: .waiting, epoch: 0))
      nextOrder += 1
    }
  }

  package mutating func claim(
    for worker: FleetWorker, now: WallClockTime, lease: Duration
  ) -> JobClaim? {
    expire(now: now)
    guard let id = takeWaiting(for: worker), var row = rows[id] else { return nil }
    let until = now.advanced(by: lease)
    row.epoch += 1
    row.state = .claimed(worker: worker.name, until: until, isRecalled: false)
    put(
      row, .deviceClaimed(device: id.device, attempt: id.attempt, worker: worker.name))
    return JobClaim(job: row.job, worker: worker.name, epoch: row.epoch, until: until)
  }

  package mutating func renew(
    _ claim: JobClaim, now: WallClockTime, lease: Duration
  ) throws(ExchangeFault) -> ClaimStanding {
    expire(now: now)
    var (row, isRecalled) = try held(claim)
    let until = now.advanced(by: lease)
    row.state = .claimed(worker: claim.worker, until: until, isRecalled: isRecalled)
    put(row)
    return isRecalled ? .recalled(until: until) : .held(until: until)
  }

  package mutating func report(_ claim: JobClaim, _ event: FleetEvent) throws(ExchangeFault) {
    var (row, _) = try held(claim)
    // After this claim expires, the next worker verifies the running image first.
    if case .deviceActivating = event { row.job.verifyFirst = true }
    put(row, event)
  }

  package mutating func finish(
    _ claim: JobClaim, _ ending: AttemptEnding
  ) throws(ExchangeFault) {
    end(try held(claim).row, ending)
  }

  package mutating func release(_ claim: JobClaim, _ reason: ReturnReason) {
    do throws(ExchangeFault) { try finish(claim, .returned(reason)) } catch {
      // Another worker has the job, or the job is over.
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

  /// Offers jobs again whose claims expired.
  package mutating func expire(now: WallClockTime) {
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

  // MARK: The rows

  private func held(_ claim: JobClaim) throws(ExchangeFault) -> (row: Row, isRecalled: Bool) {
    guard let row = rows[claim.job.id], row.epoch == claim.epoch,
      case .claimed(claim.worker, _, let isRecalled) = row.state
    else { throw .claimLost(claim.job.id) }
    return (row, isRecalled)
  }

  private mutating func end(_ row: Row, _ ending: AttemptEnding) {
    var row = row
    row.state = .over
    let id = row.job.id
    put(row, .attemptEnded(device: id.device, attempt: id.attempt, ending: ending))
  }

  private mutating func put(_ row: Row, _ event: FleetEvent) {
    put(row)
    lastFact += 1
    facts.append(JobFact(number: lastFact, job: row.job.id, event: event))
  }

  private mutating func put(_ row: Row) {
    let former = rows.updateValue(row, forKey: row.job.id)
    switch row.state {
    case .waiting:
      open[row.job.id.device] = row.job.id
      if former?.state != .waiting {
        waiting[row.job.site, default: BinaryHeap()].insert(
          Waiting(order: row.order, job: row.job.id))
      }
    case .claimed(_, let until, _):
      open[row.job.id.device] = row.job.id
      leases.insert(Lease(until: until, epoch: row.epoch, job: row.job.id))
    case .over:
      if open[row.job.id.device] == row.job.id { open[row.job.id.device] = nil }
    }
  }

  /// Returns the oldest waiting job that the worker can reach.
  private mutating func takeWaiting(for worker: FleetWorker) -> UpdateJob.ID? {
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
      if rows[entry.job]?.state == .waiting { return entry }
      waiting[site]?.removeFirst()
    }
    return nil
  }
}
