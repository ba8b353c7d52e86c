#if Fleet
import FoundationEssentials
import GRDB
import OtaflashFleet

/// The SQLite file of a store, opened so that what was committed lasts.
///
/// One connection in a process, and a rollback journal: SQLite before 3.51.3 may damage a file in
/// WAL mode that two connections write to (sqlite.org/wal.html, "The WAL-Reset Bug"), and Debian 12
/// has 3.40. Each commit is flushed (`synchronous=FULL`), which is read back: GRDB sets what it
/// thinks best in some modes, and a store that loses commits would look like one that does not.
struct StoreFile {
  /// What the file says it is (`PRAGMA application_id`): "OTAF".
  static let applicationID: Int32 = 0x4F54_4146
  /// How long another process may keep the file.
  static let patience = Duration.seconds(5)
  /// `PRAGMA synchronous`: 2 is FULL.
  private static let synchronousFull = 2

  let queue: DatabaseQueue
  let path: String
  /// Where a damaged file was put, when there was one.
  let setAside: String?

  /// - Parameters:
  ///   - path: in a folder that is there.
  ///   - isReadOnly: nothing is created or written, except that a commit which a process did not
  ///     finish is rolled back first.
  ///   - patience: how long another process may keep the file.
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

  /// SQLite would wait without a limit to open a pipe.
  private static func checkIsFile(_ path: String) throws(StorageFault) {
    let found = URL(filePath: path).resolvingSymlinksInPath().path
    guard FileManager.default.fileExists(atPath: found) else { return }
    do {
      let type = try FileManager.default.attributesOfItem(atPath: found)[.type]
      guard let type = type as? FileAttributeType, type != .typeRegular else { return }
    } catch {
      // What cannot be looked at is reported by the opening that follows.
      return
    }
    throw StorageFault(
      .system, "\(path) is not a regular file; move it away, and the runs are recorded anew")
  }

  /// The file is for its user only, whatever the umask says; its journal receives the same mode.
  private static func keepPrivate(_ path: String) throws(StorageFault) {
    let (files, mode) = (FileManager.default, [FileAttributeKey.posixPermissions: 0o600])
    // Not by `createFile`, which renames a new file to the path: another process may have created
    // the store meanwhile, and would lose it.
    do { try Data().write(to: URL(filePath: path), options: .withoutOverwriting) } catch {
      // It exists, or its folder does not: the opening that follows reports what matters.
    }
    do {
      let found = try files.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      guard let found, found & 0o077 != 0 else { return }
      try files.setAttributes(mode, ofItemAtPath: path)
    } catch {
      // No file, or another user's: whether it can be used, the opening that follows finds out.
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
    // In one transaction: another process may make it ours between two looks.
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
      throw StorageFault(.system, "\(path) is another program's database")
    }
    let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    guard version >= 0 else {
      throw StorageFault(.unsound, "\(path) has version \(version), which otaflash never writes")
    }
    guard version <= StoreSchema.version else {
      throw StorageFault(
        .newerVersion,
        "\(path) has version \(version), written by a later otaflash; this one knows "
          + "\(StoreSchema.version)")
    }
  }

  private static func harden(_ database: Database, _ path: String) throws {
    try database.execute(sql: "PRAGMA synchronous = FULL")
    let synchronous = try Int.fetchOne(database, sql: "PRAGMA synchronous")
    let journal = try String.fetchOne(database, sql: "PRAGMA journal_mode")
    guard synchronous == synchronousFull, journal == "delete" else {
      throw StorageFault(
        .system, "\(path) cannot be opened so that commits last (journal \(journal ?? "unknown"))")
    }
  }

  /// Renames a file that cannot be understood, so that a person can look at it. One that was put
  /// aside before stays.
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
      // The journal belongs to the file: with a new one it would be played back into it.
      if files.fileExists(atPath: path + "-journal") {
        try files.moveItem(atPath: path + "-journal", toPath: aside + "-journal")
      }
    } catch {
      throw StorageFault(.system, "\(path) is damaged and cannot be put aside: \(error)")
    }
    return aside
  }
}
#endif
