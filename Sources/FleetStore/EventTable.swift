#if Fleet
import GRDB
import OtaflashFleet

/// The table of events; the hash of each event covers the hash of the previous event.
enum EventTable {
  static func append(
    _ events: [FleetEvent], to run: String, at moment: WallClockTime, in database: Database
  ) throws {
    let row = try Row.fetchOne(
      database, sql: "SELECT length, head FROM run WHERE id = ?", arguments: [run])
    guard let row else { throw StorageFault(.system, "run \(run) has not started") }
    var (count, hash) = (try row.count("length"), row.bytes("head"))
    for event in events {
      count += 1
      let payload = try StoredValue.text(event)
      hash = EventChain.link(
        after: hash, number: count, at: moment.milliseconds, payload: payload)
      try database.execute(
        sql: "INSERT INTO event VALUES (?, ?, ?, ?, ?)",
        arguments: [
          run, count, moment.milliseconds, payload, DatabaseValue(bytes: hash),
        ])
    }
    try database.execute(
      sql: "UPDATE run SET length = ?, head = ? WHERE id = ?",
      arguments: [count, DatabaseValue(bytes: hash), run])
  }

  static func events(of run: String, in database: Database) throws -> [RecordedEvent] {
    try Row.fetchAll(
      database, sql: "SELECT * FROM event WHERE run = ? ORDER BY number", arguments: [run]
    ).map {
      RecordedEvent(
        number: try $0.count("number"), at: try $0.time("at"),
        event: try StoredValue.value(FleetEvent.self, $0["payload"]))
    }
  }
}
#endif
