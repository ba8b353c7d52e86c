#if Fleet
import GRDB
import OtaflashFleet

extension FleetStore: JobExchange {
  @discardableResult
  package func publish(_ jobs: [FleetJob]) async throws(ExchangeFault) -> [FleetJob.ID] {
    try change { (table) throws(ExchangeFault) in
      (table.ended(among: jobs), try table.publish(jobs))
    }
  }

  package func claim(
    for worker: FleetWorker, now: FleetTime, lease: Duration
  ) async throws(ExchangeFault) -> JobClaim? {
    try change { (table) throws(ExchangeFault) in
      let (claim, change) = table.claim(for: worker, now: now, lease: lease)
      return (claim, change)
    }
  }

  /// Does not wait for the disk: a process that dies takes its claims with it.
  package func renew(
    _ claim: JobClaim, now: FleetTime, lease: Duration
  ) async throws(ExchangeFault) -> ClaimStanding {
    try change(keepsRows: false) { (table) throws(ExchangeFault) in
      let (standing, change) = try table.renew(claim, now: now, lease: lease)
      return (standing, change)
    }
  }

  package func report(_ claim: JobClaim, _ report: JobReport) async throws(ExchangeFault) {
    try change { (table) throws(ExchangeFault) in ((), try table.report(claim, report)) }
  }

  package func finish(_ claim: JobClaim, _ ending: AttemptEnding) async throws(ExchangeFault) {
    try change { (table) throws(ExchangeFault) in ((), try table.finish(claim, ending)) }
  }

  package func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault) {
    try change { (table) throws(ExchangeFault) in ((), table.release(claim, reason)) }
  }

  package func cancel(_ jobs: [FleetJob.ID]) async throws(ExchangeFault) {
    try change { (table) throws(ExchangeFault) in ((), table.cancel(jobs)) }
  }

  package func keep(blob: [UInt8], digest: String) async throws(ExchangeFault) {
    do throws(StorageFault) {
      try write {
        try $0.execute(
          sql: "INSERT OR IGNORE INTO blob VALUES (?, ?)",
          arguments: [digest, DatabaseValue(bytes: blob)])
      }
    } catch {
      throw .storage(error)
    }
  }

  package func blob(_ digest: String) async throws(ExchangeFault) -> [UInt8] {
    let found: [UInt8]?
    do throws(StorageFault) {
      found = try read {
        try Row.fetchOne($0, sql: "SELECT content FROM blob WHERE digest = ?", arguments: [digest])?
          .bytes("content")
      }
    } catch {
      throw .storage(error)
    }
    guard let found else { throw .unknownBlob(digest: digest) }
    return found
  }

  package func news(
    after number: Int, now: FleetTime, limit: Int
  ) async throws(ExchangeFault) -> [JobNews] {
    try change { (table) throws(ExchangeFault) in ((), table.expire(now: now)) }
    do throws(StorageFault) {
      return try read { database in
        try Row.fetchAll(
          database, sql: "SELECT * FROM news WHERE number > ? ORDER BY number LIMIT ?",
          arguments: [number, limit]
        ).map(JobNews.init)
      }
    } catch {
      throw .storage(error)
    }
  }

  /// Takes back the open jobs of all other runs, so that none of them holds a device of this one;
  /// whoever goes on with such a run hears of it, and publishes them anew.
  package func withdrawJobs(ofOthersThan run: String) throws(ExchangeFault) {
    try change { (table) throws(ExchangeFault) in ((), table.withdraw(othersThan: run)) }
  }

  /// The process that worked with the jobs before this one is gone, its user knows: what it had is
  /// given back.
  package func abandonClaims() throws(ExchangeFault) {
    try change { (table) throws(ExchangeFault) in ((), table.abandonClaims()) }
  }
}

extension JobNews {
  fileprivate init(_ row: Row) throws {
    self.init(
      number: try row.count("number"),
      job: FleetJob.ID(run: row["run"], device: row["device"], attempt: try row.count("attempt")),
      fact: try StoredValue.value(Fact.self, row["fact"]))
  }
}
#endif
