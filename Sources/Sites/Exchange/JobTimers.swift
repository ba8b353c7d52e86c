#if Sites
import OtaflashFleet

/// A change of an open job that is due after a time on the coordinator's clock.
enum DueChange: Hashable, Sendable {
  /// The claim expires: the entry had no new revision for a complete lease.
  case expire
  case offerAgain
  case endSearch
}

/// The times at which the coordinator received the revisions of open jobs, on the coordinator's
/// clock. A revision is received after it was written, so the coordinator never ends a lease too
/// early.
struct JobTimers: Sendable {
  fileprivate struct Timer {
    var revision: UInt64
    /// The time at which the revision was received.
    var since: Duration
    var row: DeviceEntry.Job
    /// The time when a worker first returned the job as `notHeard`.
    var searchedSince: Duration?
  }

  private var timers: [String: Timer] = [:]

  mutating func observe(_ key: String, _ row: DeviceEntry.Job?, revision: UInt64, now: Duration) {
    guard let row, row.isClaimed || row.returns > 0 else {
      timers[key] = nil
      return
    }
    let former = timers[key]
    guard former?.revision ?? 0 < revision else { return }
    let isSameJob = former?.row.job.id == row.job.id
    let searchedSince = row.returns > 0 ? (isSameJob ? former?.searchedSince : nil) ?? now : nil
    timers[key] = Timer(revision: revision, since: now, row: row, searchedSince: searchedSince)
  }

  func due(now: Duration) -> [(key: String, revision: UInt64, job: UpdateJob.ID, DueChange)] {
    timers.flatMap { key, timer in
      timer.changes(now: now).map { (key, timer.revision, timer.row.job.id, $0) }
    }
  }
}

extension JobTimers.Timer {
  fileprivate func changes(now: Duration) -> [DueChange] {
    var changes: [DueChange] = []
    let age = now - since
    if let searchedSince, !row.isSearchOver, now - searchedSince >= row.job.order.search {
      changes.append(.endSearch)
    }
    if row.isClaimed, age >= row.lease { changes.append(.expire) }
    if row.state == .returned, age >= JobTable.searchDelay { changes.append(.offerAgain) }
    return changes
  }
}
#endif
