#if Fleet
import GRDB
import OtaflashFleet

/// Runs with their events and images in one SQLite file. Changes are durable when a call returns:
/// they survive a crash or a power loss.
///
/// One process at a time adds events to a run; the caller ensures this. Other processes may read
/// runs and add requests.
package final class FleetStore: Sendable {
  let file: StoreFile

  /// - Parameters:
  ///   - path: the path of the file, in an existing folder.
  ///   - isReadOnly: whether the store is only read. Nothing is created or written, except that an
  ///     unfinished commit is rolled back.
  /// - Throws: a fault if the file cannot be opened. Unless `isReadOnly` is `true`, a damaged file
  ///   is set aside (`setAside`), which is not a fault.
  package convenience init(path: String, isReadOnly: Bool = false) throws(StorageFault) {
    self.init(try StoreFile(path: path, isReadOnly: isReadOnly))
  }

  init(_ file: StoreFile) { self.file = file }

  /// The new path of a damaged store, if there was one. Updates remain possible, because devices
  /// report their images themselves.
  package var setAside: String? { file.setAside }

  func write<Value>(_ body: (Database) throws -> Value) throws(StorageFault) -> Value {
    try stored(at: file.path) { try file.queue.write(body) }
  }

  func read<Value>(_ body: (Database) throws -> Value) throws(StorageFault) -> Value {
    try stored(at: file.path) { try file.queue.read(body) }
  }

  // MARK: Images

  /// Stores an image under its digest.
  package func keep(blob: [UInt8], digest: String) throws(StorageFault) {
    try write {
      try $0.execute(
        sql: "INSERT OR IGNORE INTO blob VALUES (?, ?)",
        arguments: [digest, DatabaseValue(bytes: blob)])
    }
  }

  /// Returns the image with a digest.
  package func blob(_ digest: String) throws(StorageFault) -> [UInt8] {
    let found = try read {
      try Row.fetchOne($0, sql: "SELECT content FROM blob WHERE digest = ?", arguments: [digest])?
        .bytes("content")
    }
    guard let found else {
      throw StorageFault(.unsound, "the store is incomplete: there is no image \(digest)")
    }
    return found
  }
}
#endif
