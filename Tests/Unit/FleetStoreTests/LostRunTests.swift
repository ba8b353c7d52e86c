#if Fleet
import OtaflashFleet
import Testing

@testable import OtaflashFleetStore

/// Tests of runs that another program deleted from the file, or rewrote with a valid chain.
@Suite struct LostRunTests {
  private static let dropTriggers = """
    DROP TRIGGER event_stays; DROP TRIGGER event_remains; DROP TRIGGER started_stays;
    DROP TRIGGER started_remains;
    """

  private static func deletion(of run: String) -> String {
    "DELETE FROM event WHERE run = '\(run)'; DELETE FROM run WHERE id = '\(run)';"
  }

  private static func runs() async throws -> StoreFolder {
    let folder = try StoreFolder()
    let store = try folder.store()
    for run in ["r1", "r2", "r3"] { try await Sample.record(store, run: run) }
    // A run may grow after the next run was started.
    try await store.ledger(of: "r1").append(
      [.deviceRetried(device: "a")], at: Sample.now)
    return folder
  }

  @Test func anUnchangedStoreHasNoMissingRuns() async throws {
    let store = try await Self.runs().store()
    #expect(try store.lostRuns().isEmpty)
    let first = try await store.ledger(of: "r2").history()[0].event
    guard case .runBegan(let beginning) = first else { return #expect(Bool(false), "\(first)") }
    #expect(beginning.former?.id == "r1" && beginning.former?.events == 10)
  }

  @Test(arguments: [
    (deletion(of: "r1"), ["r1"]), (deletion(of: "r2"), ["r2"]), (deletion(of: "r3"), ["r3"]),
    (deletion(of: "r2") + deletion(of: "r3"), ["r2", "r3"]),
    // If another run refers to the deleted run, the deletion is detected even without the row in
    // `started`.
    (deletion(of: "r1") + "DELETE FROM started WHERE run = 'r1'", ["r1"]),
    // The store contains no trace of this run.
    (deletion(of: "r3") + "DELETE FROM started WHERE run = 'r3'", []),
  ])
  func aDeletedRunIsFound(_ sql: String, _ lost: [String]) async throws {
    let folder = try await Self.runs()
    try folder.sql(Self.dropTriggers + sql)
    let found = try folder.store().lostRuns()
    #expect(found.map(\.id) == lost && found.allSatisfy { $0.loss == .deleted })
  }

  @Test(arguments: ["UPDATE started SET run = 'x'", "DELETE FROM started"])
  func theListOfRunsOnlyGrows(_ sql: String) async throws {
    let folder = try await Self.runs()
    #expect(throws: (any Error).self) { try folder.sql(sql) }
  }

  /// Changes an event and computes all hashes again, as `EventChain` describes.
  @Test func aRunWithARewrittenChainIsFound() async throws {
    let folder = try await Self.runs()
    let events = try await folder.store().ledger(of: "r1").history()
    var hash = EventChain.start(of: "r1")
    var sql = Self.dropTriggers
    for recorded in events {
      let text = try StoredValue.text(recorded.event).replacing("doors", with: "gates")
      hash = EventChain.link(
        after: hash, number: recorded.number, at: recorded.at.milliseconds, payload: text)
      let digits = hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      sql += """
        UPDATE event SET payload = '\(text)', hash = x'\(digits)'
          WHERE run = 'r1' AND number = \(recorded.number);
        UPDATE run SET head = x'\(digits)' WHERE id = 'r1';
        """
    }
    try folder.sql(sql)
    let store = try folder.store()
    #expect(try store.verify(run: "r1") == .intact(events: events.count, head: hash))
    #expect(try store.lostRuns() == [LostRun(id: "r1", campaign: nil, loss: .rewritten)])
  }

  /// A store of version 3, without the table `started`: readers use it without changes, and the
  /// next writer adds the table.
  @Test func aStoreWithoutTheListIsReadAndCompleted() async throws {
    let folder = try await Self.runs()
    try folder.sql("DROP TABLE started; \(StoreFolder.withNews) PRAGMA user_version = 3")
    #expect(try folder.store(isReadOnly: true).lostRuns().isEmpty)
    _ = try folder.store()
    try folder.sql(Self.dropTriggers + Self.deletion(of: "r3"))
    let lost = try folder.store(isReadOnly: true).lostRuns()
    #expect(lost == [LostRun(id: "r3", campaign: "doors", loss: .deleted)])
  }

  @Test func anEventIsFoundByItsHash() async throws {
    let store = try await Self.runs().store()
    let head = try #require(try store.head(of: "r2"))
    #expect(head.events == 10)
    #expect(try store.event(withHash: head.hash) == HashedEvent(run: "r2", number: 10))
    #expect(try store.event(withHash: [1, 2]) == nil)
    #expect(try store.head(of: "none") == nil)
  }
}
#endif
