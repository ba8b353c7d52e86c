#if Fleet
import GRDB

/// The tables, by version (`PRAGMA user_version`). A migration is one transaction.
enum StoreSchema {
  static var version: Int { migrations.count }

  /// The n-th brings a store of version n − 1 to version n.
  private static let migrations = [first]

  static func migrate(_ queue: DatabaseQueue) throws {
    let found = try queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
    for (index, migration) in migrations.enumerated().dropFirst(found) {
      try queue.write { database in
        try database.execute(sql: migration)
        try database.execute(sql: "PRAGMA application_id = \(StoreFile.applicationID)")
        try database.execute(sql: "PRAGMA user_version = \(index + 1)")
      }
    }
  }

  /// Waves and where a device stands are no tables: they are folds over `event`, and a second truth
  /// would differ from the first one day.
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
}
#endif
