#if Sites
import OtaflashFleet
import OtaflashGATT
import OtaflashNATS
import Synchronization

/// The coordinator's part of the exchange. It publishes jobs, receives facts, and measures all
/// leases.
package final class SiteCoordinator: Sendable {
  private static let sweepInterval = Duration.seconds(1)
  private static let restoreInterval = Duration.seconds(15)
  private static let watchPause = Duration.seconds(1)
  /// The maximum wait for existing revisions: longer than a watch takes to replace its consumer.
  private static let settlingLimit = Duration.seconds(15)
  private static let changesMaximum = 8
  /// The number of jobs that are published concurrently, because each needs several round trips.
  private static let publicationsMaximum = 16

  private let entries: EntryBucket
  private let progresses: KeyValueBucket
  private let offers: JobOffers
  private let records: RunRecords
  private let board: JobBoard
  private let clock: any LinkClock
  private let notice: @Sendable (String) -> Void
  private let progress = Mutex<[String: JobProgress]>([:])
  /// The runs whose event log lacks outcomes (`LogStanding.behind`).
  private let behind = Mutex<Set<String>>([])
  /// The runs that must be marked as closed in `RUNS`. If a process ends without closing its runs,
  /// the next process opens these runs.
  private let closed = AsyncStream.makeStream(of: String.self)

  /// - Parameters:
  ///   - clock: the clock for pauses.
  ///   - elapsed: returns the time for leases, which also advances while the computer is suspended.
  ///   - notice: receives notices for the log.
  package init(
    _ stream: JetStream, clock: any LinkClock, elapsed: @escaping @Sendable () -> Duration,
    notice: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(NATSFault) {
    entries = try EntryBucket(stream)
    progresses = try KeyValueBucket(SiteLayout.progress, of: stream)
    offers = JobOffers(stream)
    records = try RunRecords(stream)
    board = JobBoard(elapsed: elapsed)
    self.clock = clock
    self.notice = notice
  }

  // MARK: Tasks

  /// Receives changes and measures leases until the task is cancelled.
  package func serve() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.watchEntries() }
      group.addTask { await self.watchProgress() }
      group.addTask { await self.keepTime() }
      group.addTask { await self.reportClosedRuns() }
      await group.waitForAll()
    }
  }

  private func watchEntries() async {
    await watch(entries.bucket) { entry in
      // Most revisions that this process wrote are received after `wrote` has stored their entries.
      let decoded =
        self.board.written(entry.key, revision: entry.revision) ?? EntryBucket.decode(entry)
      if decoded == nil { self.notice("entry \(entry.key) is ignored: it is not valid") }
      self.board.receive(entry.key, decoded, revision: entry.revision)
    }
  }

  private func watchProgress() async {
    await watch(progresses) { entry in
      guard let value = JobProgress(entry) else { return }
      self.progress.withLock { $0[entry.key] = value }
    }
  }

  private func watch(_ bucket: KeyValueBucket, _ body: (KeyValueEntry) -> Void) async {
    var iterator = bucket.watch().makeAsyncIterator()
    while !Task.isCancelled {
      do throws(NATSFault) {
        if case .entry(let entry) = try await iterator.next(isolation: nil) { body(entry) }
      } catch {
        guard !Task.isCancelled else { return }
        notice("bucket \(bucket.name) cannot be read: \(error)")
        await clock.pause(for: Self.watchPause)
      }
    }
  }

  private func reportClosedRuns() async {
    for await run in closed.stream {
      do throws(NATSFault) { try await records.write(run) } catch {
        notice("run \(run) could not be marked as closed: \(error)")
      }
    }
  }

  private func keepTime() async {
    var restored = clock.now
    while await clock.pause(for: Self.sweepInterval) {
      do throws(ExchangeFault) {
        try await sweep()
        guard restored.duration(to: clock.now) >= Self.restoreInterval else { continue }
        restored = clock.now
        try await restoreOffers()
      } catch {
        notice("jobs cannot be checked: \(error)")
      }
    }
  }

  /// Performs the changes that are due.
  package func sweep() async throws(ExchangeFault) {
    for (key, revision, job, change) in board.due()
    where board.stored(key).revision == revision || change != .expire {
      try await self.change(key, onlyAt: change == .expire ? revision : nil) { entry in
        switch change {
        case .expire: entry.expire(job)
        case .offerAgain: entry.offerAgain(job)
        case .endSearch: entry.endSearch(job)
        }
      }
      try await offerIfWaiting(key)
    }
  }

  /// Publishes the missing offers.
  package func restoreOffers() async throws(ExchangeFault) {
    do throws(NATSFault) { try await offers.restoreLost(board.waiting) } catch {
      throw ExchangeFault(error)
    }
  }

  /// Waits until all existing revisions are received.
  package func settle() async throws(ExchangeFault) {
    let last: UInt64
    do throws(NATSFault) { last = try await entries.bucket.lastRevision } catch {
      throw ExchangeFault(error)
    }
    let (board, clock) = (board, clock)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await board.reach(last) }
      group.addTask { await clock.pause(for: Self.settlingLimit) }
      await group.next()
      group.cancelAll()
    }
    guard board.position >= last else {
      throw .unavailable(words: "the broker does not deliver the changes of the jobs")
    }
  }

  // MARK: Calls

  /// Compares the event log of a run with the entries of its devices, before the run is opened. If
  /// the result is `behind`, the recorded facts are delivered again.
  package func standing(of run: FleetRun) async throws(ExchangeFault) -> LogStanding {
    guard let id = run.beginning?.id else { return .current }
    try await settle()
    let standing = LogStanding(of: run, jobs: board.jobs(of: id))
    behind.withLock { runs in
      if standing == .behind { runs.insert(id) } else { runs.remove(id) }
    }
    return standing
  }

  func open(_ run: String) async throws(ExchangeFault) {
    let record = try await converting { () async throws(NATSFault) in try await records.open(run) }
    try await settle()
    guard !behind.withLock({ $0.contains(run) }) else { return }
    board.resume(run, after: record.recorded)
  }

  func publish(_ job: UpdateJob) async throws(ExchangeFault) {
    let key = SiteLayout.key(site: job.site, device: job.id.device)
    if let open = board.openJob(of: job.id.device), open != job.id {
      // The end of the other job may not be received yet.
      try await settle()
      if let open = board.openJob(of: job.id.device), open != job.id {
        throw .deviceTaken(by: open)
      }
    }
    let recorded = board.recorded(job.id.run, of: key)
    try await change(key) { (entry) throws(ExchangeFault) in
      try entry.publish(job, recorded: recorded)
    }
    try await offerIfWaiting(key)
  }

  func publish(all jobs: [UpdateJob]) async throws(ExchangeFault) {
    let fault = await withTaskGroup(of: ExchangeFault?.self) { group in
      var (rest, fault) = (jobs[...], ExchangeFault?.none)
      for job in rest.prefix(Self.publicationsMaximum) { group.addTask { await self.outcome(job) } }
      rest = rest.dropFirst(Self.publicationsMaximum)
      while let outcome = await group.next() {
        fault = fault ?? outcome
        guard fault == nil, let job = rest.popFirst() else { continue }
        group.addTask { await self.outcome(job) }
      }
      return fault
    }
    if let fault { throw fault }
  }

  private func outcome(_ job: UpdateJob) async -> ExchangeFault? {
    do throws(ExchangeFault) {
      try await publish(job)
      return nil
    } catch {
      return error
    }
  }

  func cancel(_ jobs: [UpdateJob.ID]) async throws(ExchangeFault) {
    for id in jobs {
      if board.key(of: id) == nil { try await settle() }
      guard let key = board.key(of: id) else { continue }
      try await change(key) { $0.cancel(id) }
    }
  }

  func facts(of run: String, after number: Int, limit: Int) async throws(ExchangeFault)
    -> [JobFact]
  {
    try await settle()
    let revision = board.record(run, upTo: number)
    try await converting { () async throws(NATSFault) in
      try await records.record(run, upTo: revision)
    }
    return board.facts(of: run, limit: limit)
  }

  func arrival(of run: String, after number: Int) async {
    await board.arrival(of: run, after: number)
  }

  func progress(of run: String) -> [JobProgress] {
    let claimed = board.claimed(of: run)
    return progress.withLock { values in
      values = values.filter { board.openJob(of: $0.value.job.device) == $0.value.job }
      return values.values.filter { claimed.contains($0.job) }
    }
  }

  func close(_ run: String) {
    records.close(run)
    closed.continuation.yield(run)
  }

  func forget(_ run: String) async throws(ExchangeFault) {
    try await settle()
    for key in board.keys(of: run) { try await change(key) { $0.forget(run) } }
    board.forget(run)
    try await converting { () async throws(NATSFault) in try await records.forget(run) }
  }

  // MARK: Changes

  /// Changes an entry by compare-and-set.
  ///
  /// - Parameter revision: the only revision at which the change is permitted; `nil` permits any
  ///   revision.
  private func change(
    _ key: String, onlyAt revision: UInt64? = nil,
    _ body: (inout DeviceEntry) throws(ExchangeFault) -> Void
  ) async throws(ExchangeFault) {
    for _ in 0..<Self.changesMaximum {
      let stored = board.stored(key)
      if let revision, stored.revision != revision { return }
      var entry = stored.entry
      try body(&entry)
      guard entry != stored.entry else { return }
      let new = try await converting { () async throws(NATSFault) in
        try await entries.update(key, entry, expecting: stored.revision)
      }
      if let new {
        return board.wrote(key, EntryBucket.Stored(revision: new, entry: entry))
      }
      board.replace(key, try await entries.readNewest(key))
    }
    throw .unavailable(words: "the entry \(key) changes too often")
  }

  private func offerIfWaiting(_ key: String) async throws(ExchangeFault) {
    let stored = board.stored(key)
    guard stored.entry.open?.state == .waiting else { return }
    try await converting { () async throws(NATSFault) in
      try await offers.publish(key, revision: stored.revision)
    }
  }

  private func converting<Value>(
    _ body: () async throws(NATSFault) -> Value
  ) async throws(ExchangeFault) -> Value {
    do throws(NATSFault) { return try await body() } catch { throw ExchangeFault(error) }
  }
}
#endif
