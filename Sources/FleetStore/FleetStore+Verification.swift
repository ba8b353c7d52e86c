#if Fleet
import GRDB
import OtaflashFleet

/// The end of a run's chain.
package struct ChainHead: Hashable, Sendable {
  /// The number of events.
  package let events: Int
  /// The hash of the last event.
  package let hash: [UInt8]
}

/// An event that has a certain hash.
package struct HashedEvent: Hashable, Sendable {
  package let run: String
  package let number: Int
}

extension FleetStore {
  /// The head as it was recorded; `nil` if there is no such run. Nothing is compared.
  package func head(of run: String) throws(StorageFault) -> ChainHead? {
    try read { database in
      try Row.fetchOne(
        database, sql: "SELECT length, head FROM run WHERE id = ?", arguments: [run]
      ).map { ChainHead(events: try $0.count("length"), hash: $0.bytes("head")) }
    }
  }

  /// The event with this hash, of whichever run; `nil` if there is none.
  package func event(withHash hash: [UInt8]) throws(StorageFault) -> HashedEvent? {
    try read { database in
      try Row.fetchOne(
        database, sql: "SELECT run, number FROM event WHERE hash = ?",
        arguments: [DatabaseValue(bytes: hash)]
      ).map { HashedEvent(run: $0["run"], number: try $0.count("number")) }
    }
  }

  /// Runs that were started in this store, and are not in it as they were recorded.
  package func lostRuns() throws(StorageFault) -> [LostRun] { try read(StartedRuns.lost) }
}
#endif
