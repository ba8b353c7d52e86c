#if Fleet
import GRDB
import OtaflashFleet

extension StorageFault {
  /// What SQLite says, as what a person can do something about (sqlite.org/rescode.html).
  init(_ fault: DatabaseError, path: String) {
    let words = fault.message ?? "SQLite error \(fault.resultCode.rawValue)"
    switch fault.resultCode {
    case .SQLITE_FULL: self.init(.full, "\(path) cannot be written: the disk is full")
    case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
      self.init(.readOnly, "\(path) cannot be written: \(words)")
    case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL:
      self.init(.locked, "another process has held \(path) for too long")
    case .SQLITE_CORRUPT, .SQLITE_NOTADB: self.init(.damaged, "\(path) is damaged: \(words)")
    default: self.init(.system, "\(path): \(words)")
    }
  }
}

/// Runs what may fail by SQLite, or by a value in the store that cannot be.
func stored<Value>(
  at path: String, _ body: () throws -> Value
) throws(StorageFault) -> Value {
  do {
    return try body()
  } catch let fault as StorageFault {
    throw fault
  } catch let fault as DatabaseError {
    throw StorageFault(fault, path: path)
  } catch {
    throw StorageFault(.unsound, "\(path) holds a value that cannot be read: \(error)")
  }
}
#endif
