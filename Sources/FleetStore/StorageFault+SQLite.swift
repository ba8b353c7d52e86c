#if Fleet
import GRDB
import OtaflashFleet

extension StorageFault {
  /// Converts an SQLite error to a fault (sqlite.org/rescode.html).
  init(_ fault: DatabaseError, path: String) {
    let words = fault.message ?? "SQLite error \(fault.resultCode.rawValue)"
    switch fault.resultCode {
    case .SQLITE_FULL: self.init(.full, "\(path) cannot be written: the disk is full")
    case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
      self.init(.readOnly, "\(path) cannot be written: \(words)")
    case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL:
      self.init(.locked, "another process has locked \(path) for too long")
    case .SQLITE_CORRUPT, .SQLITE_NOTADB: self.init(.damaged, "\(path) is damaged: \(words)")
    default: self.init(.system, "\(path): \(words)")
    }
  }
}

/// Converts errors of SQLite and invalid values in the store to faults.
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
    throw StorageFault(.unsound, "\(path) contains an unreadable value: \(error)")
  }
}
#endif
