#if Sites
import OtaflashFleet
import OtaflashFleetHost
import OtaflashFleetReport
import OtaflashFleetStore

/// The stored runs. The archive keeps the last requested runs and the list of all runs for later
/// requests.
actor RunArchive {
  /// The number of kept runs. A run with 10,000 devices uses about 10 MB.
  private static let booksMaximum = 3
  /// The maximum age at which the list of runs is used again.
  private static let listLifetime = Duration.seconds(2)

  /// The number of events that are read at a time.
  private static let partSize = 500

  private let store: FleetStore
  private let uptime: @Sendable () -> Duration
  private var books: [(events: Int, book: RunBook)] = []
  private var list: (at: Duration, runs: [KeptRun])?
  /// The states of runs on which the coordinator does not work, each with the number of events of
  /// the run.
  private var states: [String: (events: Int, state: StoredState)] = [:]

  init(_ store: FleetStore, uptime: @escaping @Sendable () -> Duration) {
    self.store = store
    self.uptime = uptime
  }

  func runs() throws(SitesFault) -> [KeptRun] {
    let now = uptime()
    if let list, now - list.at < Self.listLifetime { return list.runs }
    let runs = try stored { () throws(StorageFault) in try store.runs() }
    list = (now, runs)
    return runs
  }

  /// Discards the list, so that the next request reads it again.
  func forgetList() { list = nil }

  /// Returns a run in the state after its last event. Concurrent requests for a run read the run
  /// once, because the method does not suspend.
  func book(_ id: String) throws(SitesFault) -> RunBook {
    let events = try stored { () throws(StorageFault) in try store.head(of: id)?.events }
    guard let events else { throw .noRun(id) }
    if let place = books.firstIndex(where: { $0.book.id == id }) {
      let known = books.remove(at: place)
      if known.events == events {
        books.append(known)
        return known.book
      }
    }
    let run = try run(id)
    let book = RunBook(run)
    books.append((run.eventCount, book))
    if books.count > Self.booksMaximum { books.removeFirst() }
    return book
  }

  /// Returns the hash of the last event; `nil` if the run has another number of events.
  func head(of run: String, events: Int) throws(SitesFault) -> [UInt8]? {
    let head = try stored { () throws(StorageFault) in try store.head(of: run) }
    return head?.events == events ? head?.hash : nil
  }

  /// Returns the state of a stored run. The events are read in parts, so that the coordinator can
  /// record events in the meantime.
  nonisolated func run(_ id: String) throws(SitesFault) -> FleetRun {
    var history: [RecordedEvent] = []
    while true {
      let part = try stored { () throws(StorageFault) in
        try store.events(of: id, after: history.count, limit: Self.partSize)
      }
      history += part
      guard part.count == Self.partSize else { break }
    }
    if let fault = FleetRun.fault(of: history) {
      throw .storage(StorageFault(.unsound, "the events of run \(id) are invalid: \(fault)"))
    }
    return FleetRun(history)
  }

  /// Returns the state of a run on which the coordinator does not work.
  func state(of run: KeptRun) throws(SitesFault) -> StoredState {
    if let known = states[run.id], known.events == run.events { return known.state }
    let turn = try stored { () throws(StorageFault) in try store.lastTurn(of: run.id) }
    let state = StoredState(after: turn)
    states[run.id] = (run.events, state)
    return state
  }

  /// Keeps a run after the coordinator has stopped working on it.
  func keep(_ book: RunBook) {
    list = nil
    books.removeAll { $0.book.id == book.id }
    books.append((book.read { $0.run.eventCount }, book))
    if books.count > Self.booksMaximum { books.removeFirst() }
  }

  private nonisolated func stored<Value>(
    _ body: () throws(StorageFault) -> Value
  ) throws(SitesFault) -> Value {
    do throws(StorageFault) { return try body() } catch { throw .storage(error) }
  }
}

/// The state of a run, derived from its last turn in the store.
struct StoredState: Sendable {
  let words: String
  let hasEnded: Bool
  let needsOperator: Bool

  init(after event: FleetEvent?) {
    words = event?.turnWords ?? "open"
    switch event {
    case .runEnded: (hasEnded, needsOperator) = (true, false)
    case .runPaused(.noAdapter): (hasEnded, needsOperator) = (false, false)
    case .runPaused, .approvalAwaited: (hasEnded, needsOperator) = (false, true)
    default: (hasEnded, needsOperator) = (false, false)
    }
  }
}
#endif
