#if Fleet
import GRDB
import OtaflashFleet

/// An entry in the list of runs.
package struct KeptRun: Hashable, Sendable {
  package let id: String
  package let campaign: String
  package let digest: String
  package let began: WallClockTime
  package let events: Int
}

/// The reason why a string does not select a run.
package enum RunSearchFault: Error, Hashable, Sendable, CustomStringConvertible {
  case none
  case unknown(String)
  case ambiguous(String, [String])
  case storage(StorageFault)

  package var description: String {
    switch self {
    case .none: "there are no runs"
    case .unknown(let text): "there is no run '\(text)'"
    case .ambiguous(let text, let runs):
      "'\(text)' matches \(runs.count) runs: \(runs.joined(separator: ", "))"
    case .storage(let fault): fault.words
    }
  }
}

extension FleetStore {
  /// Returns the stored runs, the newest first, in the order of insertion: the wall clock may have
  /// been wrong at the start of a run.
  package func runs() throws(StorageFault) -> [KeptRun] {
    try read { database in
      guard try database.tableExists("run") else { return [] }
      return try Row.fetchAll(database, sql: "SELECT * FROM run ORDER BY rowid DESC").map {
        KeptRun(
          id: $0["id"], campaign: $0["campaign"], digest: $0["digest"],
          began: try $0.time("began"), events: try $0.count("length"))
      }
    }
  }

  /// Returns the run whose name is `text` or starts with it. Without `text`, returns the run on
  /// which a process is working, otherwise the newest run.
  ///
  /// - Parameter isActive: whether a process is working on the run with this name.
  package func run(
    named text: String?, isActive: (String) -> Bool = { _ in false }
  ) throws(RunSearchFault) -> KeptRun {
    let runs: [KeptRun]
    do throws(StorageFault) { runs = try self.runs() } catch { throw .storage(error) }
    guard let newest = runs.first else { throw .none }
    guard let text else { return runs.first { isActive($0.id) } ?? newest }
    if let exact = runs.first(where: { $0.id == text }) { return exact }
    let found = text.isEmpty ? [] : runs.filter { $0.id.hasPrefix(text) }
    guard let first = found.first else { throw .unknown(text) }
    guard found.count == 1 else { throw .ambiguous(text, found.map(\.id)) }
    return first
  }

  /// Returns the event log of a run. The first event, `runBegan`, creates the run.
  package func ledger(of run: String) -> any EventLedger { StoredLedger(store: self, run: run) }

  /// Returns the validated events of a run.
  package func events(of run: String) throws(StorageFault) -> [RecordedEvent] {
    try read { database in
      let events = try EventTable.events(of: run, in: database)
      let row = try Row.fetchOne(
        database, sql: "SELECT id FROM run WHERE id = ?", arguments: [run])
      if row != nil, let fault = FleetRun.fault(of: events) {
        throw StorageFault(.unsound, "the events of run \(run) are invalid: \(fault)")
      }
      return events
    }
  }

  /// Returns a part of the events of a run, without validation. The events are decoded after the
  /// read, so that a long run does not delay the writer.
  ///
  /// - Parameters:
  ///   - number: the number of the event before the first one to return.
  ///   - limit: the maximum number of events to return.
  package func events(
    of run: String, after number: Int, limit: Int
  ) throws(StorageFault) -> [RecordedEvent] {
    let rows = try read { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT number, at, payload FROM event WHERE run = ? AND number > ? ORDER BY number LIMIT ?
          """, arguments: [run, number, limit])
    }
    return try stored(at: file.path) {
      try rows.map {
        RecordedEvent(
          number: try $0.count("number"), at: try $0.time("at"),
          event: try StoredValue.value(FleetEvent.self, $0["payload"]))
      }
    }
  }

  /// Verifies the chain of a run's events.
  package func verify(run: String) throws(StorageFault) -> ChainVerdict {
    try read { database in
      let row = try Row.fetchOne(
        database, sql: "SELECT length, head FROM run WHERE id = ?", arguments: [run])
      let recorded = try row?.count("length") ?? 0
      var hash = EventChain.start(of: run)
      var count = 0
      let events = try Row.fetchCursor(
        database, sql: "SELECT * FROM event WHERE run = ? ORDER BY number", arguments: [run])
      while let event = try events.next() {
        count += 1
        hash = EventChain.link(
          after: hash, number: count, at: event["at"], payload: event["payload"])
        guard event["number"] == count, event.bytes("hash") == hash else {
          return .changed(event: count)
        }
      }
      guard count == recorded else { return .cut(found: count, recorded: recorded) }
      guard row?.bytes("head") ?? hash == hash else { return .changed(event: count) }
      return .intact(events: count, head: hash)
    }
  }

  // MARK: Requests

  /// Adds a request for the process that is working on a run, or for the next process.
  ///
  /// - Parameter action: the operator and the reason.
  /// - Returns: the number of the request.
  @discardableResult
  package func request(
    _ order: OperatorCommand, by action: OperatorAction? = nil, of run: String,
    at moment: WallClockTime
  ) throws(StorageFault) -> Int {
    try write {
      try $0.execute(
        sql: "INSERT INTO request (run, at, wish) VALUES (?, ?, ?)",
        arguments: [run, moment.milliseconds, try StoredRequest.text(order, action)])
      return Int($0.lastInsertedRowID)
    }
  }

  /// Returns the answer to a request as text; `nil` = the request is not answered yet.
  package func answer(to request: Int) throws(StorageFault) -> String? {
    try read {
      try String.fetchOne(
        $0, sql: "SELECT answer FROM request WHERE number = ?", arguments: [request])
    }
  }

  /// Returns the last event that determines the state in the list of runs: an event of the complete
  /// run (such as `runPaused`), a request for approval, an approval, or a retry of a device.
  package func lastTurn(of run: String) throws(StorageFault) -> FleetEvent? {
    try read { database in
      // Payloads start with the name of the event, so they are searched by prefix, from the last
      // event backwards.
      let payload = try String.fetchOne(
        database,
        sql: """
          SELECT payload FROM event WHERE run = ? AND (
            payload GLOB '{"run[A-Z]*' OR payload GLOB '{"approvalAwaited"*'
            OR payload GLOB '{"waveApproved"*' OR payload GLOB '{"deviceRetried"*'
          ) ORDER BY number DESC LIMIT 1
          """,
        arguments: [run])
      return try payload.map { try StoredValue.value(FleetEvent.self, $0) }
    }
  }

  /// Returns the source of the requests for a run.
  package func commands(of run: String) -> any CommandSource {
    StoredCommands(store: self, run: run)
  }
}

/// The stored form of a request. Former versions stored only the command.
private struct StoredRequest: Codable {
  let order: OperatorCommand
  let action: OperatorAction

  static func text(_ order: OperatorCommand, _ action: OperatorAction?) throws -> String {
    guard let action else { return try StoredValue.text(order) }
    return try StoredValue.text(StoredRequest(order: order, action: action))
  }

  static func pending(_ number: Int, _ text: String) throws -> PendingCommand {
    do {
      let request = try StoredValue.value(StoredRequest.self, text)
      return PendingCommand(number: number, command: request.order, action: request.action)
    } catch is DecodingError {
      return PendingCommand(
        number: number, command: try StoredValue.value(OperatorCommand.self, text))
    }
  }
}

/// The requests for one run, which any process can add.
private struct StoredCommands: CommandSource {
  let store: FleetStore
  let run: String

  func pending() async throws(StorageFault) -> [PendingCommand] {
    try store.read { database in
      try Row.fetchAll(
        database,
        sql: "SELECT number, wish FROM request WHERE run = ? AND answer IS NULL ORDER BY number",
        arguments: [run]
      ).map {
        try StoredRequest.pending(try $0.count("number"), $0["wish"])
      }
    }
  }

  func answer(_ pending: PendingCommand, _ words: String) async throws(StorageFault) {
    try store.write {
      try $0.execute(
        sql: "UPDATE request SET answer = ? WHERE number = ?", arguments: [words, pending.number])
    }
  }
}

/// The events of one run.
private struct StoredLedger: EventLedger {
  let store: FleetStore
  let run: String

  func append(_ events: [FleetEvent], at moment: WallClockTime) async throws(StorageFault) {
    try store.write { database in
      var events = events
      if case .runBegan(var beginning) = events.first {
        beginning.former = try StartedRuns.newest(in: database)
        events[0] = .runBegan(beginning)
        try StartedRuns.note(run, of: beginning.campaign, at: moment, in: database)
        try database.execute(
          sql: "INSERT INTO run VALUES (?, ?, ?, ?, 0, ?)",
          arguments: [
            run, beginning.campaign, beginning.digest, moment.milliseconds,
            DatabaseValue(bytes: EventChain.start(of: run)),
          ])
      }
      try EventTable.append(events, to: run, at: moment, in: database)
    }
  }

  func history() async throws(StorageFault) -> [RecordedEvent] { try store.events(of: run) }
}
#endif
