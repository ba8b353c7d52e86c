#if Fleet
import GRDB
import OtaflashFleet

/// A run that was deleted or rewritten, even if its own chain is intact.
package struct LostRun: Hashable, Sendable {
  package enum Loss: Hashable, Sendable {
    case deleted
    /// The events of the run differ from the state that a later run recorded.
    case rewritten
  }

  package let id: String
  package let campaign: String?
  package let loss: Loss
}

/// The started runs: the table `started`, and the former run in the first event of each run.
enum StartedRuns {
  static func note(
    _ run: String, of campaign: String, at moment: WallClockTime, in database: Database
  ) throws {
    try database.execute(
      sql: "INSERT INTO started (run, campaign, at) VALUES (?, ?, ?)",
      arguments: [run, campaign, moment.milliseconds])
  }

  /// Returns the newest run, for the first event of the next run.
  static func newest(in database: Database) throws -> FormerRun? {
    try Row.fetchOne(
      database, sql: "SELECT id, length, head FROM run ORDER BY rowid DESC LIMIT 1"
    ).map {
      FormerRun(
        id: $0["id"], events: try $0.count("length"), head: hex($0.bytes("head")))
    }
  }

  /// Returns the deleted runs of the table `started`, and then the other runs that were deleted or
  /// rewritten, both in the order of their starts.
  static func lost(in database: Database) throws -> [LostRun] {
    var lost: [LostRun] = []
    // A store of an older version that is opened read-only has no such table.
    if try database.tableExists("started") {
      lost = try Row.fetchAll(
        database,
        sql: """
          SELECT run, campaign FROM started WHERE run NOT IN (SELECT id FROM run) ORDER BY number
          """
      ).map { LostRun(id: $0["run"], campaign: $0["campaign"], loss: .deleted) }
    }
    guard try database.tableExists("run") else { return lost }
    let firsts = try Row.fetchAll(
      database,
      sql: """
        SELECT event.payload AS payload FROM run
        JOIN event ON event.run = run.id AND event.number = 1 ORDER BY run.rowid
        """)
    for first in firsts {
      guard
        case .runBegan(let beginning) = try StoredValue.value(FleetEvent.self, first["payload"]),
        let former = beginning.former, !lost.contains(where: { $0.id == former.id }),
        let loss = try loss(of: former, in: database)
      else { continue }
      lost.append(LostRun(id: former.id, campaign: nil, loss: loss))
    }
    return lost
  }

  private static func loss(
    of former: FormerRun, in database: Database
  ) throws -> LostRun.Loss? {
    let run = try Row.fetchOne(
      database, sql: "SELECT id FROM run WHERE id = ?", arguments: [former.id])
    guard run != nil else { return .deleted }
    let event = try Row.fetchOne(
      database, sql: "SELECT hash FROM event WHERE run = ? AND number = ?",
      arguments: [former.id, former.events])
    return event.map { hex($0.bytes("hash")) } == former.head ? nil : .rewritten
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
#endif
