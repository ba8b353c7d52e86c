#if Fleet
import GRDB
import OtaflashFleet

/// The end of the event chain of a run.
package struct ChainHead: Hashable, Sendable {
  /// The number of events.
  package let events: Int
  /// The hash of the last event.
  package let hash: [UInt8]
}

/// An event that was found by its hash: its run, and its number in the run.
package struct HashedEvent: Hashable, Sendable {
  package let run: String
  package let number: Int
}

extension FleetStore {
  /// Returns the recorded head without verification; `nil` = the store has no such run.
  package func head(of run: String) throws(StorageFault) -> ChainHead? {
    try read { database in
      try Row.fetchOne(
        database, sql: "SELECT length, head FROM run WHERE id = ?", arguments: [run]
      ).map { ChainHead(events: try $0.count("length"), hash: $0.bytes("head")) }
    }
  }

  /// Returns the event with a hash, of any run; `nil` = the store has no such event.
  package func event(withHash hash: [UInt8]) throws(StorageFault) -> HashedEvent? {
    try read { database in
      try Row.fetchOne(
        database, sql: "SELECT run, number FROM event WHERE hash = ?",
        arguments: [DatabaseValue(bytes: hash)]
      ).map { HashedEvent(run: $0["run"], number: try $0.count("number")) }
    }
  }

  /// Returns runs of this store that were deleted or rewritten.
  package func lostRuns() throws(StorageFault) -> [LostRun] { try read(StartedRuns.lost) }
}
#endif
