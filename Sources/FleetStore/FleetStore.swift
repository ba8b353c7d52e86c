#if Fleet
import GRDB
import OtaflashFleet

/// Runs with their events and images, and the devices, in one SQLite file. What a call has returned
/// lasts, whatever happens to the process or the power.
///
/// One process adds events to a run at a time; who that is, its user sees to. Others may read runs
/// and put requests.
package final class FleetStore: Sendable {
  let file: StoreFile

  /// - Parameters:
  ///   - path: of the file, in a folder that is there.
  ///   - isReadOnly: for who only looks; nothing is made, mended or written.
  /// - Throws: what stands in the way. A damaged file is none: it is put aside (`setAside`).
  package convenience init(path: String, isReadOnly: Bool = false) throws(StorageFault) {
    self.init(try StoreFile(path: path, isReadOnly: isReadOnly))
  }

  init(_ file: StoreFile) { self.file = file }

  /// Where a damaged store was put, when there was one: what its devices run, they know themselves.
  package var setAside: String? { file.setAside }

  func write<Value>(_ body: (Database) throws -> Value) throws(StorageFault) -> Value {
    try stored(at: file.path) { try file.queue.write(body) }
  }

  func read<Value>(_ body: (Database) throws -> Value) throws(StorageFault) -> Value {
    try stored(at: file.path) { try file.queue.read(body) }
  }

  // MARK: Images

  /// Keeps an image under its digest.
  package func keep(blob: [UInt8], digest: String) throws(StorageFault) {
    try write {
      try $0.execute(
        sql: "INSERT OR IGNORE INTO blob VALUES (?, ?)",
        arguments: [digest, DatabaseValue(bytes: blob)])
    }
  }

  /// The image with this digest.
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
