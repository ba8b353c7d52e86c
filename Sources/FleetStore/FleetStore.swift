#if Fleet
import GRDB
import OtaflashFleet
import Synchronization

/// Runs with their events, jobs and images, and the devices, in one SQLite file. What a call has
/// returned lasts, whatever happens to the process or the power.
///
/// One process works with the jobs at a time; who that is, its user sees to. Others may read runs
/// and put requests.
package final class FleetStore: Sendable {
  let file: StoreFile
  /// The jobs as the file has them.
  private let table: Mutex<JobTable>

  /// - Parameters:
  ///   - path: of the file, in a folder that is there.
  ///   - isReadOnly: for who only looks; nothing is made, mended or written.
  /// - Throws: what stands in the way. A damaged file is none: it is put aside (`setAside`).
  package convenience init(path: String, isReadOnly: Bool = false) throws(StorageFault) {
    try self.init(StoreFile(path: path, isReadOnly: isReadOnly))
  }

  init(_ file: StoreFile) throws(StorageFault) {
    self.file = file
    table = Mutex(try Self.table(in: file))
  }

  /// Where a damaged store was put, when there was one: what its devices run, they know themselves.
  package var setAside: String? { file.setAside }

  func write<Value>(_ body: (Database) throws -> Value) throws(StorageFault) -> Value {
    try stored(at: file.path) { try file.queue.write(body) }
  }

  func read<Value>(_ body: (Database) throws -> Value) throws(StorageFault) -> Value {
    try stored(at: file.path) { try file.queue.read(body) }
  }

  // MARK: Jobs

  /// Changes the jobs, and keeps the change before it counts.
  ///
  /// - Parameter keepsRows: false where a crash may forget how far a claim reached.
  func change<Value>(
    keepsRows: Bool = true,
    _ body: (inout JobTable) throws(ExchangeFault) -> (Value, JobTable.Change)
  ) throws(ExchangeFault) -> Value {
    try table.withLock { (table) throws(ExchangeFault) -> Value in
      let (value, change) = try body(&table)
      guard keepsRows && !change.isEmpty || !change.news.isEmpty else { return value }
      do throws(StorageFault) {
        try write { try Self.keep(change, in: $0) }
      } catch {
        // What could not be kept has not happened.
        do throws(StorageFault) { table = try Self.table(in: file) } catch {
          throw .storage(error)
        }
        throw .storage(error)
      }
      return value
    }
  }

  private static func keep(_ change: JobTable.Change, in database: Database) throws {
    for row in change.rows {
      try database.execute(
        sql: "INSERT OR REPLACE INTO job VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        arguments: [
          row.job.id.run, row.job.id.device, row.job.id.attempt, row.order, row.job.site,
          row.job.image, row.job.look, try StoredValue.text(row.state), row.epoch,
        ])
    }
    for item in change.news {
      try database.execute(
        sql: "INSERT INTO news VALUES (?, ?, ?, ?, ?)",
        arguments: [
          item.number, item.job.run, item.job.device, item.job.attempt,
          try StoredValue.text(item.fact),
        ])
    }
  }

  /// Jobs that are over are needed, too: they are not published again.
  private static func table(in file: StoreFile) throws(StorageFault) -> JobTable {
    try stored(at: file.path) {
      try file.queue.read { database in
        guard try database.tableExists("job") else { return JobTable() }
        let rows = try Row.fetchAll(database, sql: "SELECT * FROM job").map(JobTable.Row.init)
        // News that a run has read already would not be read again.
        let last = try Row.fetchOne(
          database,
          sql: """
            SELECT max(coalesce((SELECT max(number) FROM news), 0),
              coalesce((SELECT max(news_seen) FROM run), 0)) AS last
            """)
        return JobTable(rows: rows, lastNews: try last?.count("last") ?? 0)
      }
    }
  }
}

extension JobTable.Row {
  fileprivate init(_ row: Row) throws {
    let id = FleetJob.ID(
      run: row["run"], device: row["device"], attempt: try row.count("attempt"))
    self.init(
      job: FleetJob(id: id, site: row["site"], image: row["image"], look: row["look"]),
      order: try row.count("position"),
      state: try StoredValue.value(JobTable.State.self, row["state"]),
      epoch: try row.count("epoch"))
  }
}
#endif
