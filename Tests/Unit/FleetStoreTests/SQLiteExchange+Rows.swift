#if Fleet
import Foundation
import GRDB
import OtaflashFleet

/// The rows of jobs and facts. Each function runs within the transaction of a call.
extension SQLiteExchange {
  static func lost<Value>(_ claim: JobClaim) -> Result<Value, ExchangeFault> {
    .failure(.claimLost(claim.job.id))
  }

  static func row(_ id: UpdateJob.ID, in database: Database) throws -> Row? {
    try Row.fetchOne(
      database, sql: "SELECT * FROM job WHERE run = ? AND device = ? AND attempt = ?",
      arguments: [id.run, id.device, id.attempt])
  }

  /// Returns the row of a claim; `nil` = the claim is lost.
  static func held(_ claim: JobClaim, _ now: Int64, in database: Database) throws -> Row? {
    try expire(now, in: database)
    guard let row = try row(claim.job.id, in: database) else { return nil }
    let (state, epoch, worker): (String, Int, String?) = (row["state"], row["epoch"], row["worker"])
    return state == "claimed" && epoch == claim.epoch && worker == claim.worker ? row : nil
  }

  static func number(_ row: Row) -> Int { row["number"] }

  static func claim(_ row: Row) throws -> JobClaim {
    JobClaim(
      job: try value(UpdateJob.self, row["job"]), worker: row["worker"], epoch: row["epoch"])
  }

  static func end(_ row: Row, _ ending: AttemptEnding, in database: Database) throws {
    let id = try value(UpdateJob.self, row["job"]).id
    try database.execute(
      sql: "UPDATE job SET state = 'over', ending = ? WHERE number = ?",
      arguments: [try text(ending), Self.number(row)])
    try database.execute(
      sql: "DELETE FROM progress WHERE run = ? AND device = ?", arguments: [id.run, id.device])
    try add(
      .attemptEnded(device: id.device, attempt: id.attempt, ending: ending), of: id, in: database)
  }

  static func expire(_ now: Int64, in database: Database) throws {
    let rows = try Row.fetchAll(
      database, sql: "SELECT * FROM job WHERE state = 'claimed' AND until <= ? ORDER BY until",
      arguments: [now])
    for row in rows {
      let isRecalled: Bool = row["recalled"]
      if isRecalled {
        try end(row, .returned(.recalled), in: database)
      } else {
        let id = try value(UpdateJob.self, row["job"]).id
        try database.execute(
          sql: "UPDATE job SET state = 'waiting' WHERE number = ?",
          arguments: [Self.number(row)])
        try add(.claimExpired(device: id.device, attempt: id.attempt), of: id, in: database)
      }
    }
  }

  static func add(
    _ event: FleetEvent, of job: UpdateJob.ID, in database: Database
  ) throws {
    try database.execute(
      sql: "INSERT INTO fact (run, job, event) VALUES (?, ?, ?)",
      arguments: [job.run, try text(job), try text(event)])
  }

  static func lastFact(of run: String, in database: Database) throws -> Int {
    try Int.fetchOne(
      database, sql: "SELECT max(number) FROM fact WHERE run = ?", arguments: [run]) ?? 0
  }

  static func text(_ value: some Encodable) throws -> String {
    String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
  }

  static func value<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(text.utf8))
  }
}
#endif
