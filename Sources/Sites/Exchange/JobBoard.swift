#if Sites
import OtaflashFleet
import OtaflashGATT
import OtaflashNATS
import Synchronization

/// The coordinator's copy of the bucket `STATE`: all entries, their facts, and their timers.
final class JobBoard: Sendable {
  fileprivate struct State {
    var entries: [String: EntryBucket.Stored] = [:]
    /// The open job of each device, at any site.
    var open: [FleetDevice.ID: (key: String, job: UpdateJob.ID)] = [:]
    var books: [String: FactBook] = [:]
    var timers = JobTimers()
    /// The last received revision.
    var position: UInt64 = 0
    var positionWaits: [(revision: UInt64, wait: OneShot<Void>)] = []
    var factWaits: [(run: String, number: Int, wait: OneShot<Void>)] = []
  }

  private let elapsed: @Sendable () -> Duration
  private let state = Mutex(State())

  init(elapsed: @escaping @Sendable () -> Duration) { self.elapsed = elapsed }

  var position: UInt64 { state.withLock { $0.position } }

  // MARK: Revisions

  /// Processes a received revision. `entry` is `nil` if the entry cannot be decoded.
  func receive(_ key: String, _ entry: DeviceEntry?, revision: UInt64) {
    let now = elapsed()
    let waits = state.withLock { state in
      if let entry {
        state.put(key, entry, revision: revision, now: now)
        for (run, row) in entry.jobs {
          _ = state.books[run, default: FactBook()].receive(row, of: key, revision: revision)
        }
      }
      state.position = max(state.position, revision)
      return state.takeFulfilled()
    }
    for wait in waits { wait.fulfil(()) }
  }

  /// Stores a revision that this process wrote. The facts of the revision are added when the
  /// revision is received.
  func wrote(_ key: String, _ stored: EntryBucket.Stored) {
    let now = elapsed()
    state.withLock { $0.put(key, stored.entry, revision: stored.revision, now: now) }
  }

  /// Returns the entry of a revision that this process wrote; `nil` if this process did not write
  /// the revision.
  func written(_ key: String, revision: UInt64) -> DeviceEntry? {
    state.withLock { $0.entries[key].flatMap { $0.revision == revision ? $0.entry : nil } }
  }

  /// Replaces an entry with the entry that `readNewest` returned, even if the revision of that
  /// entry is lower: a server may have lost the newest revisions.
  func replace(_ key: String, _ stored: EntryBucket.Stored) {
    let now = elapsed()
    state.withLock { state in
      if state.entries[key]?.revision ?? 0 > stored.revision { state.entries[key]?.revision = 0 }
      state.put(key, stored.entry, revision: stored.revision, now: now)
    }
  }

  /// Waits until a revision is received or the task is cancelled.
  func reach(_ revision: UInt64) async {
    let wait = state.withLock { state -> OneShot<Void>? in
      guard state.position < revision else { return nil }
      let wait = OneShot<Void>()
      state.positionWaits.append((revision, wait))
      return wait
    }
    _ = await wait?.wait()
  }

  // MARK: Jobs

  func stored(_ key: String) -> EntryBucket.Stored {
    state.withLock { $0.entries[key] } ?? EntryBucket.Stored(revision: 0, entry: DeviceEntry())
  }

  /// Returns the id of the open job of a device, at any site; `nil` if no job is open.
  func openJob(of device: FleetDevice.ID) -> UpdateJob.ID? {
    state.withLock { $0.open[device]?.job }
  }

  /// Returns the keys of the entries that contain a job of a run.
  func keys(of run: String) -> [String] {
    state.withLock { $0.entries.filter { $0.value.entry.jobs[run] != nil }.map(\.key) }
  }

  /// Returns the id of the newest job of each device of a run, and whether the job is open.
  func jobs(of run: String) -> [(id: UpdateJob.ID, isOpen: Bool)] {
    state.withLock { state in
      state.entries.values.compactMap { stored in
        stored.entry.jobs[run].map { ($0.job.id, $0.isOpen) }
      }
    }
  }

  /// Returns the key of the entry that contains an open job; `nil` if the job is not open.
  func key(of id: UpdateJob.ID) -> String? {
    state.withLock { state in
      if let open = state.open[id.device], open.job == id { return open.key }
      return nil
    }
  }

  /// The keys and revisions of the entries with a waiting job.
  var waiting: [(key: String, revision: UInt64)] {
    state.withLock { state in
      state.open.values.compactMap { open in
        guard let stored = state.entries[open.key], stored.entry.open?.state == .waiting else {
          return nil
        }
        return (open.key, stored.revision)
      }
    }
  }

  /// Returns the ids of the claimed jobs of a run.
  func claimed(of run: String) -> Set<UpdateJob.ID> {
    state.withLock { state in
      Set(
        state.open.values.filter { open in
          open.job.run == run && state.entries[open.key]?.entry.open?.isClaimed == true
        }.map(\.job))
    }
  }

  func due() -> [(key: String, revision: UInt64, job: UpdateJob.ID, DueChange)] {
    let now = elapsed()
    return state.withLock { $0.timers.due(now: now) }
  }

  // MARK: Facts

  /// Marks the facts of a run up to fact `number` as recorded.
  ///
  /// - Returns: the revision of `STATE` up to which all facts are recorded.
  func record(_ run: String, upTo number: Int) -> UInt64 {
    state.withLock { state in
      let position = state.position
      state.books[run, default: FactBook()].record(upTo: number)
      return state.books[run, default: FactBook()].recordedRevision(at: position)
    }
  }

  func facts(of run: String, limit: Int) -> [JobFact] {
    state.withLock { $0.books[run]?.facts(limit: limit) ?? [] }
  }

  func recorded(_ run: String, of key: String) -> Int {
    state.withLock { $0.books[run]?.recorded(of: key) ?? 0 }
  }

  /// Resumes after the facts that a former coordinator recorded.
  func resume(_ run: String, after revision: UInt64) {
    state.withLock { $0.books[run, default: FactBook()].resume(after: revision) }
  }

  /// Waits until a fact of a run after fact `number` is received or the task is cancelled.
  func arrival(of run: String, after number: Int) async {
    let wait = state.withLock { state -> OneShot<Void>? in
      guard state.books[run]?.last ?? 0 <= number else { return nil }
      let wait = OneShot<Void>()
      state.factWaits.append((run, number, wait))
      return wait
    }
    guard let wait else { return }
    _ = await wait.wait()
    state.withLock { $0.factWaits.removeAll { $0.wait === wait } }
  }

  func forget(_ run: String) { state.withLock { $0.books[run] = nil } }
}

extension JobBoard.State {
  fileprivate mutating func put(
    _ key: String, _ entry: DeviceEntry, revision: UInt64, now: Duration
  ) {
    let former = entries[key]
    guard former?.revision ?? 0 < revision else { return }
    if let job = former?.entry.open, open[job.job.id.device]?.key == key {
      open[job.job.id.device] = nil
    }
    entries[key] = EntryBucket.Stored(
      revision: revision, entry: former.map { entry.sharing(jobsOf: $0.entry) } ?? entry)
    if let job = entry.open { open[job.job.id.device] = (key, job.job.id) }
    timers.observe(key, entry.open, revision: revision, now: now)
  }

  /// Removes and returns the waits that have ended.
  fileprivate mutating func takeFulfilled() -> [OneShot<Void>] {
    let reached = positionWaits.filter { $0.revision <= position }.map(\.wait)
    if !reached.isEmpty {
      let position = position
      positionWaits.removeAll { $0.revision <= position }
    }
    let books = books
    let arrived = factWaits.filter { books[$0.run]?.last ?? 0 > $0.number }
    if !arrived.isEmpty {
      factWaits.removeAll { wait in arrived.contains { $0.wait === wait.wait } }
    }
    return reached + arrived.map(\.wait)
  }
}
#endif
