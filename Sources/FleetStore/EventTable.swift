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
    let count = try Int.fetchOne(
      database, sql: "SELECT count(*) FROM event WHERE run = ?", arguments: [run])
    var events: [RecordedEvent] = []
    events.reserveCapacity(count ?? 0)
    // The rows are decoded one by one, because all rows together need as much memory as the events.
    let rows = try Row.fetchCursor(
      database, sql: "SELECT * FROM event WHERE run = ? ORDER BY number", arguments: [run])
    while let row = try rows.next() {
      events.append(
        RecordedEvent(
          number: try row.count("number"), at: try row.time("at"),
          event: try StoredValue.value(FleetEvent.self, row["payload"])))
    }
    return events
  }
}
#endif
