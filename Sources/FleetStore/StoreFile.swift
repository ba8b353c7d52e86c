#if Fleet
import FoundationEssentials
import GRDB
import OtaflashFleet

/// The SQLite file of a store, opened with durable commits.
///
/// A process has one connection, with a rollback journal. In WAL mode, SQLite before 3.51.3 may
/// damage a file if two connections write to it (sqlite.org/wal.html, "The WAL-Reset Bug"), and
/// Debian 12 has SQLite 3.40. Each commit is flushed (`synchronous=FULL`). The setting is read
/// back, because GRDB changes it in some modes, and the loss of commits would not be noticed.
struct StoreFile {
  /// The application id of the file (`PRAGMA application_id`): "OTAF".
  static let applicationID: Int32 = 0x4F54_4146
  /// The default time limit for locks of other processes.
  static let patience = Duration.seconds(5)
  /// `PRAGMA synchronous`: 2 is FULL.
  private static let synchronousFull = 2

  let queue: DatabaseQueue
  let path: String
  /// The new path of a damaged file, if there was one.
  let setAside: String?

  /// - Parameters:
  ///   - path: the path of the file, in an existing folder.
  ///   - isReadOnly: whether nothing is created or written. As an exception, an unfinished commit
  ///     is rolled back first.
  ///   - patience: the time limit for locks of other processes.
  init(
    path: String, isReadOnly: Bool, patience: Duration = StoreFile.patience
  ) throws(StorageFault) {
    self.path = path
    try Self.checkIsFile(path)
    guard !isReadOnly else {
      setAside = nil
      queue = try Self.openForReading(path, patience)
      return
    }
    do throws(StorageFault) {
      try Self.keepPrivate(path)
      queue = try Self.open(path, isReadOnly: isReadOnly, patience)
      setAside = nil
    } catch {
      guard error.kind == .damaged else { throw error }
      setAside = try Self.putAside(path)
      try Self.keepPrivate(path)
      queue = try Self.open(path, isReadOnly: false, patience)
    }
  }

  /// Rejects paths that are not regular files. SQLite would wait indefinitely when it opens a pipe.
  private static func checkIsFile(_ path: String) throws(StorageFault) {
    let found = URL(filePath: path).resolvingSymlinksInPath().path
    guard FileManager.default.fileExists(atPath: found) else { return }
    do {
      let type = try FileManager.default.attributesOfItem(atPath: found)[.type]
      guard let type = type as? FileAttributeType, type != .typeRegular else { return }
    } catch {
      // Other errors are reported when the file is opened next.
      return
    }
    throw StorageFault(
      .system, "\(path) is not a regular file; move it away to create a new store")
  }

  /// Creates the file if it does not exist, and makes it readable only by its user, regardless of
  /// the umask. Its journal receives the same mode.
  private static func keepPrivate(_ path: String) throws(StorageFault) {
    let (files, mode) = (FileManager.default, [FileAttributeKey.posixPermissions: 0o600])
    // `createFile` would rename a new file to the path, and could therefore replace a store that
    // another process creates at the same time.
    do { try Data().write(to: URL(filePath: path), options: .withoutOverwriting) } catch {
      // The file exists, or its folder does not. In both cases errors are reported when the file is
      // opened next.
    }
    do {
      let found = try files.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      guard let found, found & 0o077 != 0 else { return }
      try files.setAttributes(mode, ofItemAtPath: path)
    } catch {
      // The file does not exist, or belongs to another user. In both cases errors are reported when
      // the file is opened next.
    }
  }

  static func open(
    _ path: String, isReadOnly: Bool, _ patience: Duration
  ) throws(StorageFault) -> DatabaseQueue {
    var configuration = Configuration()
    configuration.readonly = isReadOnly
    configuration.busyMode = .timeout(Double(patience.wholeMilliseconds) / 1000)
    let queue = try stored(at: path) { try DatabaseQueue(path: path, configuration: configuration) }
    try stored(at: path) {
      try queue.writeWithoutTransaction { database in
        try check(database, path)
        guard !isReadOnly else { return }
        try harden(database, path)
      }
      if !isReadOnly { try StoreSchema.migrate(queue) }
    }
    return queue
  }

  private static func check(_ database: Database, _ path: String) throws {
    // All statements are in one transaction, because another process may initialize the file
    // between two reads.
    try database.inTransaction(.deferred) {
      try checkOwner(database, path)
      return .commit
    }
    let verdict = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
    guard verdict == "ok" else {
      throw StorageFault(.damaged, "\(path) is damaged: \(verdict ?? "no verdict")")
    }
  }

  private static func checkOwner(_ database: Database, _ path: String) throws {
    let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
    let isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") == 0
    guard application == applicationID || (application == 0 && isEmpty) else {
      throw StorageFault(.system, "\(path) is the database of another program")
    }
    let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    guard version >= 0 else {
      throw StorageFault(.unsound, "\(path) has version \(version), which otaflash never writes")
    }
    guard version <= StoreSchema.version else {
      throw StorageFault(
        .newerVersion,
        "\(path) has version \(version), from a later version of otaflash; this version supports "
          + "\(StoreSchema.version)")
    }
  }

  private static func harden(_ database: Database, _ path: String) throws {
    try database.execute(sql: "PRAGMA synchronous = FULL")
    let synchronous = try Int.fetchOne(database, sql: "PRAGMA synchronous")
    let journal = try String.fetchOne(database, sql: "PRAGMA journal_mode")
    guard synchronous == synchronousFull, journal == "delete" else {
      throw StorageFault(
        .system, "\(path) does not support durable commits (journal \(journal ?? "unknown"))")
    }
  }

  /// Renames a damaged file, so that a user can examine it. Files that were set aside earlier are
  /// kept.
  private static func putAside(_ path: String) throws(StorageFault) -> String {
    let files = FileManager.default
    var aside = path + ".damaged"
    var number = 1
    while files.fileExists(atPath: aside) {
      number += 1
      aside = "\(path).damaged-\(number)"
    }
    do {
      try files.moveItem(atPath: path, toPath: aside)
      // The journal belongs to the damaged file, and SQLite would apply it to a new file.
      if files.fileExists(atPath: path + "-journal") {
        try files.moveItem(atPath: path + "-journal", toPath: aside + "-journal")
      }
    } catch {
      throw StorageFault(.system, "\(path) is damaged and cannot be renamed: \(error)")
    }
    return aside
  }
}
#endif
