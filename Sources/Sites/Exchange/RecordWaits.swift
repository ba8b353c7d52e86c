#if Sites
import OtaflashFleet
import OtaflashGATT
import OtaflashNATS
import Synchronization

/// The waits of a worker until the coordinator has recorded facts. Of the waits for one run, one
/// reads the record of the run for all.
final class RecordWaits: Sendable {
  private static let pause = Duration.milliseconds(20)
  private static let pauseMaximum = Duration.milliseconds(250)

  private enum Turn: Sendable {
    case recorded
    case notRecorded
    /// The wait reads the record now, because the wait that read it has ended.
    case read
  }

  private struct Wait: Sendable {
    let revision: UInt64
    let turn = OneShot<Turn>()
  }

  private let runs: any SiteEntries
  private let clock: any LinkClock
  /// The waits for each run whose record is being read, except the wait that reads it.
  private let others = Mutex<[String: [Wait]]>([:])

  init(_ runs: any SiteEntries, clock: any LinkClock) {
    self.runs = runs
    self.clock = clock
  }

  /// Waits until all facts of a run up to a revision of `STATE` are recorded.
  ///
  /// - Throws: `.notRecorded` if no coordinator records facts of the run, or if the task is
  ///   cancelled.
  func wait(for run: String, upTo revision: UInt64) async throws(ExchangeFault) {
    let own = others.withLock { others -> Wait? in
      guard others[run] != nil else {
        others[run] = []
        return nil
      }
      let wait = Wait(revision: revision)
      others[run]?.append(wait)
      return wait
    }
    guard let own else { return try await read(run, upTo: revision) }
    switch await own.turn.wait() {
    case .recorded: return
    case .read: try await read(run, upTo: revision, after: Self.pause)
    case .notRecorded, nil: throw .notRecorded
    }
  }

  /// Reads the record until it contains the revision. Other waits that the record contains end.
  private func read(
    _ run: String, upTo revision: UInt64, after first: Duration = .zero
  ) async throws(ExchangeFault) {
    defer { passOn(run) }
    var pause = first
    while true {
      if pause > .zero {
        guard await clock.pause(for: pause) else { throw .notRecorded }
      }
      pause = min(max(pause * 2, Self.pause), Self.pauseMaximum)
      let entry: SiteEntry?
      do throws(NATSFault) { entry = try await runs.current(RunRecords.key(of: run)) } catch {
        throw ExchangeFault(error)
      }
      let record = RunRecord(entry?.value) ?? RunRecord()
      end(run, by: record)
      if record.recorded >= revision { return }
      guard record.isOpen else { throw .notRecorded }
    }
  }

  private func end(_ run: String, by record: RunRecord) {
    let ended = others.withLock { others in
      let waits = others[run] ?? []
      others[run] = waits.filter { $0.revision > record.recorded && record.isOpen }
      return waits.filter { $0.revision <= record.recorded || !record.isOpen }
    }
    for wait in ended {
      wait.turn.fulfil(wait.revision <= record.recorded ? .recorded : .notRecorded)
    }
  }

  /// Passes the reading on to another wait. A wait that was cancelled does not accept it.
  private func passOn(_ run: String) {
    others.withLock { others in
      while others[run]?.isEmpty == false {
        if others[run]?.removeFirst().turn.fulfil(.read) == true { return }
      }
      others[run] = nil
    }
  }
}
#endif
