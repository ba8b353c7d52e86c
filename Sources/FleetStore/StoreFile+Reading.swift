#if Fleet
import FoundationEssentials
import GRDB
import OtaflashFleet

/// Opens a store for reading, even after a process was killed during a commit.
extension StoreFile {
  /// Opens the file for reading. If a killed process left a journal, the journal is rolled back
  /// first (sqlite.org/lockingv3.html, 4.0 "Rollback"). A read-only connection cannot roll back a
  /// journal, so the rollback changes the file if the file is writable, or otherwise a copy of the
  /// file.
  static func openForReading(
    _ path: String, _ patience: Duration
  ) throws(StorageFault) -> DatabaseQueue {
    let refusal: StorageFault
    do throws(StorageFault) { return try open(path, isReadOnly: true, patience) } catch {
      refusal = error
    }
    guard refusal.kind == .readOnly, FileManager.default.fileExists(atPath: path + "-journal")
    else { throw refusal }
    do throws(StorageFault) {
      try recover(path, patience)
    } catch {
      guard error.kind != .locked else { throw error }
      return try openCopy(of: path, patience)
    }
    return try open(path, isReadOnly: true, patience)
  }

  /// Opens a connection that may write; its first read rolls back the unfinished commit. SQLite
  /// does so under an exclusive lock, and does not touch the journal of a process that is still
  /// running.
  private static func recover(_ path: String, _ patience: Duration) throws(StorageFault) {
    var configuration = Configuration()
    configuration.busyMode = .timeout(Double(patience.wholeMilliseconds) / 1000)
    try stored(at: path) {
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      _ = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
      try queue.close()
    }
  }

  /// Opens a copy with the state of the last commit, for a read-only file system. The copy is
  /// unlinked after opening, and is deleted when its connection ends.
  private static func openCopy(
    of path: String, _ patience: Duration
  ) throws(StorageFault) -> DatabaseQueue {
    let files = FileManager.default
    let folder = files.temporaryDirectory.appending(path: "otaflash-\(UUID().uuidString)").path
    let copy = folder + "/fleet.sqlite"
    defer { remove(folder) }
    do {
      try files.createDirectory(
        atPath: folder, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      for suffix in ["", "-journal"] {
        try files.copyItem(atPath: path + suffix, toPath: copy + suffix)
        try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy + suffix)
      }
    } catch {
      throw StorageFault(
        .readOnly,
        "\(path) contains an unfinished commit, and its copy cannot be written to "
          + "\(files.temporaryDirectory.path): \(error)")
    }
    try recover(copy, patience)
    return try open(copy, isReadOnly: true, patience)
  }

  private static func remove(_ folder: String) {
    do { try FileManager.default.removeItem(atPath: folder) } catch {
      // If files remain in the folder for temporary files, only this user can read them.
    }
  }
}
#endif
