#if Fleet
import GRDB

/// The tables, by version (`PRAGMA user_version`). A migration is one transaction.
enum StoreSchema {
  static var version: Int { migrations.count }

  /// Code of a migration that runs after its statements.
  private typealias Step = @Sendable (Database) throws -> Void

  /// The migrations; migration n converts a store of version n − 1 to version n.
  private static let migrations: [(sql: String, step: Step)] = [
    (first, { _ in }), (devices, { _ in }), (versionTimes, { _ in }),
    (started, { _ in }), ("", FormerNews.takeOver), ("", dropUnusedDevices),
  ]

  static func migrate(_ queue: DatabaseQueue) throws {
    let found = try queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
    for (index, migration) in migrations.enumerated().dropFirst(found) {
      // The version is checked again within the transaction, because another process may migrate
      // the store at the same time.
      try queue.inTransaction(.immediate) { database in
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found == index else { return .rollback }
        try database.execute(sql: migration.sql)
        try migration.step(database)
        try database.execute(sql: "PRAGMA application_id = \(StoreFile.applicationID)")
        try database.execute(sql: "PRAGMA user_version = \(index + 1)")
        return .commit
      }
    }
  }

  /// The tables of version 1. There are no tables for waves and for the progress of devices,
  /// because both are derived from `event`, and redundant data could contradict it.
  private static let first = """
    CREATE TABLE run (
      id TEXT PRIMARY KEY, campaign TEXT NOT NULL, digest TEXT NOT NULL, began INTEGER NOT NULL,
      news_seen INTEGER NOT NULL, length INTEGER NOT NULL, head BLOB NOT NULL
    ) STRICT;

    CREATE TABLE event (
      run TEXT NOT NULL REFERENCES run (id), number INTEGER NOT NULL, at INTEGER NOT NULL,
      payload TEXT NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (run, number)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER event_stays BEFORE UPDATE ON event
      BEGIN SELECT RAISE(ABORT, 'events are only added'); END;
    CREATE TRIGGER event_remains BEFORE DELETE ON event
      BEGIN SELECT RAISE(ABORT, 'events are only added'); END;

    CREATE TABLE job (
      run TEXT NOT NULL, device TEXT NOT NULL, attempt INTEGER NOT NULL,
      position INTEGER NOT NULL, site TEXT, image TEXT NOT NULL, look INTEGER NOT NULL,
      state TEXT NOT NULL, epoch INTEGER NOT NULL, PRIMARY KEY (run, device, attempt)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE news (
      number INTEGER PRIMARY KEY, run TEXT NOT NULL, device TEXT NOT NULL,
      attempt INTEGER NOT NULL, fact TEXT NOT NULL
    ) STRICT;

    CREATE TABLE request (
      number INTEGER PRIMARY KEY, run TEXT NOT NULL REFERENCES run (id), at INTEGER NOT NULL,
      wish TEXT NOT NULL, answer TEXT
    ) STRICT;

    CREATE TABLE blob (digest TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT, WITHOUT ROWID;
    """

  /// The known devices, until version 6. `RegistryFile` has replaced this table.
  private static let devices = """
    CREATE TABLE device (
      id TEXT PRIMARY KEY, name TEXT, address TEXT, seen INTEGER, connected INTEGER, outcome TEXT,
      image TEXT, flashed INTEGER, version TEXT, board TEXT, site TEXT, tags TEXT
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE taken_over (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    """

  private static let versionTimes = "ALTER TABLE device ADD COLUMN version_at INTEGER;"

  /// Drops the table if there are no runs. A store with runs keeps the table until the registry has
  /// imported its devices.
  private static func dropUnusedDevices(in database: Database) throws {
    if try Int.fetchOne(database, sql: "SELECT count(*) FROM run") == 0 {
      try dropDevices(in: database)
    }
  }

  static func dropDevices(in database: Database) throws {
    try database.execute(sql: "DROP TABLE IF EXISTS device; DROP TABLE IF EXISTS taken_over;")
  }

  /// All started runs, in order. The table only grows, so a run that is missing in `run` was
  /// deleted.
  private static let started = """
    CREATE TABLE started (
      number INTEGER PRIMARY KEY, run TEXT NOT NULL UNIQUE, campaign TEXT NOT NULL,
      at INTEGER NOT NULL
    ) STRICT;
    CREATE TRIGGER started_stays BEFORE UPDATE ON started
      BEGIN SELECT RAISE(ABORT, 'runs are only added'); END;
    CREATE TRIGGER started_remains BEFORE DELETE ON started
      BEGIN SELECT RAISE(ABORT, 'runs are only added'); END;
    INSERT INTO started (run, campaign, at) SELECT id, campaign, began FROM run ORDER BY rowid;
    """
}
#endif
