#if Fleet
import Foundation
import GRDB
import OtaflashATT
import OtaflashFleet
import OtaflashGATT

/// An exchange in an SQLite file, to which every process has a connection: the example for an
/// exchange in another database, such as PostgreSQL. The database rejects a second open job of a
/// device, and each change is one transaction. The processes share only the file and the clock. An
/// exchange on a database server would use the server's clock.
final class SQLiteExchange: JobExchange {
  private static let pollInterval = Duration.milliseconds(200)
  /// The time, in seconds, for which a worker is not offered a job that it returned as `notHeard`.
  static let searchDelay = 10

  let outlivesCoordinator = true
  private let queue: DatabaseQueue
  private let clock: any LinkClock

  static let schema = """
    CREATE TABLE run (id TEXT PRIMARY KEY, open INTEGER NOT NULL);
    CREATE TABLE job (
      number INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, device TEXT NOT NULL,
      attempt INTEGER NOT NULL, site TEXT, job TEXT NOT NULL, state TEXT NOT NULL,
      worker TEXT, epoch INTEGER NOT NULL DEFAULT 0, until INTEGER,
      recalled INTEGER NOT NULL DEFAULT 0, ending TEXT, late INTEGER NOT NULL DEFAULT 0,
      search_ends INTEGER, UNIQUE (run, device, attempt)
    );
    CREATE UNIQUE INDEX one_open ON job (device) WHERE state <> 'over';
    CREATE INDEX waiting ON job (state, site, number);
    CREATE TABLE resting (
      number INTEGER NOT NULL, worker TEXT NOT NULL, until INTEGER NOT NULL,
      PRIMARY KEY (number, worker)
    );
    CREATE TABLE fact (
      number INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, job TEXT NOT NULL,
      event TEXT NOT NULL
    );
    CREATE TABLE progress (
      run TEXT NOT NULL, device TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (run, device)
    );
    """

  init(path: String, clock: any LinkClock, creates: Bool = false) throws {
    queue = try DatabaseQueue(path: path)
    self.clock = clock
    if creates {
      try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = OFF") }
      try queue.write { try $0.execute(sql: Self.schema) }
    }
  }

  // MARK: Workers

  func claim(
    for worker: FleetWorker, lease: Duration, waitingUpTo wait: Duration
  ) async throws(ExchangeFault) -> JobClaim? {
    let end = clock.now.advanced(by: wait)
    while true {
      if let claim = try claimNow(worker, lease) { return claim }
      guard clock.now < end, await clock.pause(for: Self.pollInterval) else { return nil }
    }
  }

  private func claimNow(
    _ worker: FleetWorker, _ lease: Duration
  ) throws(ExchangeFault) -> JobClaim? {
    try write { (database, now) -> Result<JobClaim?, ExchangeFault> in
      try Self.expire(now, in: database)
      let row = try Row.fetchOne(
        database,
        sql: """
          UPDATE job SET state = 'claimed', worker = :worker, epoch = epoch + 1, until = :until
          WHERE number = (
            SELECT number FROM job WHERE state = 'waiting'
            AND (:site IS NULL OR site IS NULL OR site = :site)
            AND NOT EXISTS (
              SELECT 1 FROM resting
              WHERE resting.number = job.number AND worker = :worker AND until > :now)
            ORDER BY number LIMIT 1)
          RETURNING *
          """,
        arguments: [
          "worker": worker.name, "site": worker.site, "now": now,
          "until": now + lease.wholeMilliseconds,
        ])
      guard let row else { return .success(nil) }
      let claim = try Self.claim(row)
      let id = claim.job.id
      try Self.add(
        .deviceClaimed(device: id.device, attempt: id.attempt, worker: worker.name), of: id,
        in: database)
      return .success(claim)
    }
  }

  func claims(of worker: FleetWorker) async throws(ExchangeFault) -> [JobClaim] {
    try write { (database, now) -> Result<[JobClaim], ExchangeFault> in
      try Self.expire(now, in: database)
      let rows = try Row.fetchAll(
        database, sql: "SELECT * FROM job WHERE state = 'claimed' AND worker = ? ORDER BY number",
        arguments: [worker.name])
      return .success(try rows.map(Self.claim))
    }
  }

  func renew(_ claim: JobClaim, lease: Duration) async throws(ExchangeFault) -> ClaimStanding {
    try write { (database, now) -> Result<ClaimStanding, ExchangeFault> in
      guard let row = try Self.held(claim, now, in: database) else { return Self.lost(claim) }
      try database.execute(
        sql: "UPDATE job SET until = ? WHERE number = ?",
        arguments: [now + lease.wholeMilliseconds, Self.number(row)])
      let isRecalled: Bool = row["recalled"]
      return .success(isRecalled ? .recalled : .held)
    }
  }

  func report(_ claim: JobClaim, _ event: FleetEvent) async throws(ExchangeFault) {
    try write { (database, now) -> Result<Void, ExchangeFault> in
      guard let row = try Self.held(claim, now, in: database) else { return Self.lost(claim) }
      if case .deviceActivating = event {
        var job = try Self.value(UpdateJob.self, row["job"])
        job.verifyFirst = true
        try database.execute(
          sql: "UPDATE job SET job = ? WHERE number = ?",
          arguments: [try Self.text(job), Self.number(row)])
      }
      try Self.add(event, of: claim.job.id, in: database)
      return .success(())
    }
  }

  func recorded(_ claim: JobClaim) async throws(ExchangeFault) {
    let run = claim.job.id.run
    let last: Int = try write { (database, _) in
      .success(try Self.lastFact(of: run, in: database))
    }
    while true {
      let (first, isOpen): (Int, Bool) = try write { (database, _) in
        let first = try Int.fetchOne(
          database, sql: "SELECT min(number) FROM fact WHERE run = ?", arguments: [run])
        let open = try Int.fetchOne(
          database, sql: "SELECT open FROM run WHERE id = ?", arguments: [run])
        return .success((first ?? .max, open == 1))
      }
      if first > last { return }
      guard isOpen, await clock.pause(for: Self.pollInterval) else { throw .notRecorded }
    }
  }

  func progress(_ claim: JobClaim, _ progress: JobProgress) {
    do throws(ExchangeFault) {
      try write { (database, _) -> Result<Void, ExchangeFault> in
        try database.execute(
          sql: "INSERT OR REPLACE INTO progress VALUES (?, ?, ?)",
          arguments: [claim.job.id.run, claim.job.id.device, try Self.text(progress)])
        return .success(())
      }
    } catch {
      // The progress may be lost.
    }
  }

  func finish(_ claim: JobClaim, _ ending: AttemptEnding) async throws(ExchangeFault) {
    try write { (database, now) -> Result<Void, ExchangeFault> in
      if let row = try Self.held(claim, now, in: database) {
        try Self.end(row, ending, in: database)
        return .success(())
      }
      guard let row = try Self.row(claim.job.id, in: database) else { return Self.lost(claim) }
      let (state, epoch, late): (String, Int, Int) = (row["state"], row["epoch"], row["late"])
      let isOver = state == "over" && epoch == claim.epoch
      let text: String? = row["ending"]
      let former = try text.map { try Self.value(AttemptEnding.self, $0) }
      if isOver, former == ending { return .success(()) }
      if case .returned = ending { return Self.lost(claim) }
      guard !isOver, late < claim.epoch, claim.epoch <= epoch else {
        return Self.lost(claim)
      }
      try database.execute(
        sql: "UPDATE job SET late = ? WHERE number = ?",
        arguments: [claim.epoch, Self.number(row)])
      let id = claim.job.id
      try Self.add(
        .outcomeReportedLate(
          device: id.device, attempt: id.attempt, worker: claim.worker, ending: ending), of: id,
        in: database)
      return Self.lost(claim)
    }
  }

  func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault) {
    try write { (database, now) -> Result<Void, ExchangeFault> in
      guard let row = try Self.held(claim, now, in: database) else { return .success(()) }
      let isRecalled: Bool = row["recalled"]
      let searchEnds: Int64? = row["search_ends"]
      let end = searchEnds ?? now + claim.job.order.search.wholeMilliseconds
      guard reason == .notHeard, !isRecalled, now < end else {
        let reason = isRecalled && reason == .notHeard ? .recalled : reason
        try Self.end(row, .returned(reason), in: database)
        return .success(())
      }
      let number: Int = row["number"]
      try database.execute(
        sql: "UPDATE job SET state = 'waiting', search_ends = ? WHERE number = ?",
        arguments: [end, number])
      try database.execute(
        sql: "INSERT OR REPLACE INTO resting VALUES (?, ?, ?)",
        arguments: [number, claim.worker, now + Int64(Self.searchDelay) * 1000])
      let id = claim.job.id
      try Self.add(
        .deviceNotInRange(device: id.device, attempt: id.attempt, worker: claim.worker), of: id,
        in: database)
      return .success(())
    }
  }

  // MARK: The coordinator

  func open(_ run: String) async throws(ExchangeFault) { try set(run, isOpen: true) }

  func close(_ run: String) {
    do throws(ExchangeFault) { try set(run, isOpen: false) } catch {
      preconditionFailure("the file is writable: \(error)")
    }
  }

  private func set(_ run: String, isOpen: Bool) throws(ExchangeFault) {
    try write { (database, _) in
      try database.execute(
        sql: "INSERT OR REPLACE INTO run VALUES (?, ?)", arguments: [run, isOpen])
      return .success(())
    }
  }

  func publish(_ job: UpdateJob) async throws(ExchangeFault) {
    try write { (database, _) -> Result<Void, ExchangeFault> in
      let id = job.id
      let newest = try Int.fetchOne(
        database, sql: "SELECT max(attempt) FROM job WHERE run = ? AND device = ?",
        arguments: [id.run, id.device])
      if let newest, newest >= id.attempt { return .success(()) }
      let open = try Row.fetchOne(
        database, sql: "SELECT * FROM job WHERE device = ? AND state <> 'over'",
        arguments: [id.device])
      if let open {
        return .failure(.deviceTaken(by: try Self.value(UpdateJob.self, open["job"]).id))
      }
      try database.execute(
        sql: "DELETE FROM job WHERE run = ? AND device = ?", arguments: [id.run, id.device])
      try database.execute(
        sql: "INSERT INTO job (run, device, attempt, site, job, state) VALUES (?, ?, ?, ?, ?, ?)",
        arguments: [id.run, id.device, id.attempt, job.site, try Self.text(job), "waiting"])
      return .success(())
    }
  }

  func cancel(_ jobs: [UpdateJob.ID]) async throws(ExchangeFault) {
    try write { (database, _) -> Result<Void, ExchangeFault> in
      for id in jobs {
        guard let row = try Self.row(id, in: database) else { continue }
        switch row["state"] as String {
        case "waiting": try Self.end(row, .returned(.recalled), in: database)
        case "claimed":
          try database.execute(
            sql: "UPDATE job SET recalled = 1 WHERE number = ?", arguments: [Self.number(row)])
        default: break
        }
      }
      return .success(())
    }
  }

  func facts(
    of run: String, after number: Int, limit: Int
  ) async throws(ExchangeFault) -> [JobFact] {
    try write { (database, now) -> Result<[JobFact], ExchangeFault> in
      try Self.expire(now, in: database)
      try database.execute(
        sql: "DELETE FROM fact WHERE run = ? AND number <= ?", arguments: [run, number])
      let rows = try Row.fetchAll(
        database, sql: "SELECT * FROM fact WHERE run = ? ORDER BY number LIMIT ?",
        arguments: [run, limit])
      return .success(
        try rows.map { row in
          JobFact(
            number: row["number"], job: try Self.value(UpdateJob.ID.self, row["job"]),
            event: try Self.value(FleetEvent.self, row["event"]))
        })
    }
  }

  func arrival(of run: String, after number: Int) async {
    while true {
      do throws(ExchangeFault) {
        let last: Int = try write { (database, _) in
          .success(try Self.lastFact(of: run, in: database))
        }
        if last > number { return }
      } catch {
        return
      }
      guard await clock.pause(for: Self.pollInterval) else { return }
    }
  }

  func progress(of run: String) async -> [JobProgress] {
    do throws(ExchangeFault) {
      return try write { (database, _) in
        let texts = try String.fetchAll(
          database, sql: "SELECT value FROM progress WHERE run = ?", arguments: [run])
        return .success(try texts.map { try Self.value(JobProgress.self, $0) })
      }
    } catch {
      return []
    }
  }

  func forget(_ run: String) async throws(ExchangeFault) {
    try write { (database, _) -> Result<Void, ExchangeFault> in
      for table in ["job", "fact", "progress"] {
        try database.execute(sql: "DELETE FROM \(table) WHERE run = ?", arguments: [run])
      }
      try database.execute(sql: "DELETE FROM run WHERE id = ?", arguments: [run])
      return .success(())
    }
  }

  /// Performs one transaction, which is committed also if the call fails: a late outcome is a fact.
  private func write<Value>(
    _ body: (Database, _ now: Int64) throws -> Result<Value, ExchangeFault>
  ) throws(ExchangeFault) -> Value {
    let result: Result<Value, ExchangeFault>
    do {
      result = try queue.write { try body($0, clock.now.elapsed.wholeMilliseconds) }
    } catch {
      throw .storage(StorageFault(.system, "\(error)"))
    }
    return try result.get()
  }
}
#endif
