/// The jobs of one store, and who has them: the rules of `JobExchange` as a value. Each change
/// returns what has to be kept before it counts.
package struct JobTable: Sendable {
  package enum State: Hashable, Sendable, Codable {
    case waiting
    case claimed(worker: String, until: FleetTime, isRecalled: Bool)
    case over
  }

  /// A job as it is kept.
  package struct Row: Hashable, Sendable {
    package internal(set) var job: FleetJob
    /// The order of publication.
    package let order: Int
    package var state: State
    package var epoch: Int

    package init(job: FleetJob, order: Int, state: State, epoch: Int) {
      self.job = job
      self.order = order
      self.state = state
      self.epoch = epoch
    }
  }

  /// What a call has changed.
  package struct Change: Hashable, Sendable {
    package var rows: [Row] = []
    package var news: [JobNews] = []

    package init() {}

    package var isEmpty: Bool { rows.isEmpty && news.isEmpty }
  }

  private var rows: [FleetJob.ID: Row] = [:]
  /// The open job of each device.
  private var open: [FleetDevice.ID: FleetJob.ID] = [:]
  /// Those that wait, in their order; some may no longer.
  private var waiting: [String?: BinaryHeap<Waiting>] = [:]
  /// Those that are claimed, by when that ends; some may no longer.
  private var leases = BinaryHeap<Lease>()
  private var nextOrder = 1
  private var lastNews = 0

  private struct Waiting: Comparable {
    let order: Int
    let job: FleetJob.ID

    static func < (left: Waiting, right: Waiting) -> Bool { left.order < right.order }
  }

  private struct Lease: Comparable {
    let until: FleetTime
    let epoch: Int
    let job: FleetJob.ID

    static func < (left: Lease, right: Lease) -> Bool { left.until < right.until }
  }

  package init() {}

  /// A table as it was kept.
  package init(rows kept: [Row], lastNews: Int) {
    self.lastNews = lastNews
    for row in kept.sorted(by: { $0.order < $1.order }) {
      put(row)
      nextOrder = max(nextOrder, row.order + 1)
    }
  }

  /// Of these jobs, those that have ended.
  package func ended(among jobs: [FleetJob]) -> [FleetJob.ID] {
    jobs.map(\.id).filter { rows[$0]?.state == .over }
  }

  // MARK: The calls

  package mutating func publish(_ jobs: [FleetJob]) throws(ExchangeFault) -> Change {
    var devices = open
    var fresh: [FleetJob] = []
    for job in jobs where rows[job.id] == nil {
      if let other = devices[job.id.device] {
        if other == job.id { continue }
        throw .deviceTaken(by: other)
      }
      devices[job.id.device] = job.id
      fresh.append(job)
    }
    var change = Change()
    for job in fresh {
      let row = Row(job: job, order: nextOrder, state: .waiting, epoch: 0)
      nextOrder += 1
      put(row)
      change.rows.append(row)
    }
    return change
  }

  package mutating func claim(
    for worker: FleetWorker, now: FleetTime, lease: Duration
  ) -> (claim: JobClaim?, change: Change) {
    var change = expire(now: now)
    guard let id = takeWaiting(for: worker), var row = rows[id] else { return (nil, change) }
    let until = now.advanced(by: lease)
    row.epoch += 1
    row.state = .claimed(worker: worker.name, until: until, isRecalled: false)
    keep(row, .claimed(worker: worker.name), in: &change)
    let claim = JobClaim(job: row.job, worker: worker.name, epoch: row.epoch, until: until)
    return (claim, change)
  }

  package mutating func renew(
    _ claim: JobClaim, now: FleetTime, lease: Duration
  ) throws(ExchangeFault) -> (standing: ClaimStanding, change: Change) {
    var change = expire(now: now)
    var (row, isRecalled) = try held(claim)
    let until = now.advanced(by: lease)
    row.state = .claimed(worker: claim.worker, until: until, isRecalled: isRecalled)
    put(row)
    change.rows.append(row)
    return (isRecalled ? .recalled(until: until) : .held(until: until), change)
  }

  package mutating func report(
    _ claim: JobClaim, _ report: JobReport
  ) throws(ExchangeFault) -> Change {
    var (row, _) = try held(claim)
    // Whoever takes the job when this claim has run out looks first.
    if case .activating = report { row.job.look = true }
    var change = Change()
    keep(row, .reported(report), in: &change)
    return change
  }

  package mutating func finish(
    _ claim: JobClaim, _ ending: AttemptEnding
  ) throws(ExchangeFault) -> Change {
    var (row, _) = try held(claim)
    var change = Change()
    row.state = .over
    keep(row, .ended(ending), in: &change)
    return change
  }

  package mutating func release(_ claim: JobClaim, _ reason: ReturnReason) -> Change {
    do throws(ExchangeFault) { return try finish(claim, .returned(reason)) } catch {
      return Change()
    }
  }

  package mutating func cancel(_ jobs: [FleetJob.ID]) -> Change {
    var change = Change()
    for id in jobs {
      guard var row = rows[id] else { continue }
      switch row.state {
      case .over: break
      case .waiting:
        row.state = .over
        keep(row, .ended(.returned(.recalled)), in: &change)
      case .claimed(let worker, let until, _):
        row.state = .claimed(worker: worker, until: until, isRecalled: true)
        put(row)
        change.rows.append(row)
      }
    }
    return change
  }

  /// Takes back the open jobs of all other runs.
  package mutating func withdraw(othersThan run: String) -> Change {
    let others = open.values.filter { $0.run != run }
    return cancel(others.sorted { (rows[$0]?.order ?? 0) < (rows[$1]?.order ?? 0) })
  }

  /// Whoever had a claim is known to be gone: what he had ends without a judgement.
  package mutating func abandonClaims() -> Change {
    var change = Change()
    for var row in rows.values.sorted(by: { $0.order < $1.order }) {
      guard case .claimed = row.state else { continue }
      row.state = .over
      keep(row, .ended(.returned(.holderGone)), in: &change)
    }
    return change
  }

  /// Offers anew what was claimed and not renewed in time.
  package mutating func expire(now: FleetTime) -> Change {
    var change = Change()
    while let lease = leases.first, lease.until <= now {
      leases.removeFirst()
      guard var row = rows[lease.job], row.epoch == lease.epoch,
        case .claimed(_, let until, let isRecalled) = row.state, until == lease.until
      else { continue }
      row.state = isRecalled ? .over : .waiting
      keep(row, isRecalled ? .ended(.returned(.recalled)) : .expired, in: &change)
    }
    return change
  }

  // MARK: The rows

  private func held(_ claim: JobClaim) throws(ExchangeFault) -> (row: Row, isRecalled: Bool) {
    guard let row = rows[claim.job.id], row.epoch == claim.epoch,
      case .claimed(claim.worker, _, let isRecalled) = row.state
    else { throw .claimLost(claim.job.id) }
    return (row, isRecalled)
  }

  private mutating func keep(_ row: Row, _ fact: JobNews.Fact, in change: inout Change) {
    put(row)
    change.rows.append(row)
    lastNews += 1
    change.news.append(JobNews(number: lastNews, job: row.job.id, fact: fact))
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

  /// The job that was published first among those that the worker can reach.
  private mutating func takeWaiting(for worker: FleetWorker) -> FleetJob.ID? {
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
