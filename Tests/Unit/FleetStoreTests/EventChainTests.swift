#if Fleet
import Foundation
import GRDB
import OtaflashFirmware
import OtaflashFleet
import Testing

@testable import OtaflashFleetStore

@Suite struct EventChainTests {
  @Test func anUnchangedChainIsValid() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    try await Sample.record(store)
    try await Sample.record(store, run: "r2")
    guard case .intact(10, let head) = try store.verify(run: "r1"),
      case .intact(10, let other) = try folder.store().verify(run: "r2")
    else { return #expect(Bool(false), "both are whole") }
    #expect(head.count == 32 && head != other, "the same events in another run hash differently")
  }

  /// Changes to the store that a user makes with `sqlite3`, and the verdict.
  @Test(arguments: [
    (
      "UPDATE event SET payload = replace(payload, 'a', 'b') WHERE number = 5",
      ChainVerdict.changed(event: 5)
    ),
    ("UPDATE event SET at = at + 1 WHERE number = 5", .changed(event: 5)),
    ("UPDATE event SET hash = zeroblob(32) WHERE number = 5", .changed(event: 5)),
    ("DELETE FROM event WHERE number = 5", .changed(event: 5)),
    ("DELETE FROM event WHERE number > 7", .cut(found: 7, recorded: 10)),
    ("DELETE FROM event", .cut(found: 0, recorded: 10)),
    ("UPDATE event SET number = 50 WHERE number = 10", .changed(event: 10)),
    (
      "INSERT INTO event SELECT run, 11, at, payload, hash FROM event WHERE number = 10",
      .changed(event: 11)
    ),
    ("UPDATE run SET head = zeroblob(32)", .changed(event: 10)),
    ("UPDATE run SET length = 12", .cut(found: 10, recorded: 12)),
    // Two events are exchanged, including their hashes.
    (
      "UPDATE event SET number = 99 WHERE number = 5; UPDATE event SET number = 5 WHERE number = 6;"
        + "UPDATE event SET number = 6 WHERE number = 99", .changed(event: 5)
    ),
  ])
  func aChangeByAnotherProgramIsDetected(_ sql: String, _ verdict: ChainVerdict) async throws {
    let folder = try StoreFolder()
    try await Sample.record(try folder.store())
    try folder.sql("DROP TRIGGER event_stays; DROP TRIGGER event_remains; " + sql)
    #expect(try folder.store().verify(run: "r1") == verdict)
  }

  @Test(arguments: ["UPDATE event SET at = 0", "DELETE FROM event"])
  func theStoreOnlyAppendsEvents(_ sql: String) async throws {
    let folder = try StoreFolder()
    try await Sample.record(try folder.store())
    #expect(throws: DatabaseError.self) { try folder.sql(sql) }
  }

  @Test func eventsAreReadBackUnchanged() async throws {
    let folder = try StoreFolder()
    try await Sample.record(try folder.store())
    let events = try await folder.store().ledger(of: "r1").history()
    #expect(events.map(\.number) == Array(1...10))
    #expect(events[0].event == Sample.beginning && events[1].event == Sample.planned)
    let run = FleetRun(events)
    #expect(run.control == .ended(.complete(failed: 0)) && run.eventCount == 10)
  }

  @Test func aRunWithoutAStartAcceptsNoEvents() async throws {
    let folder = try StoreFolder()
    let ledger = try folder.store().ledger(of: "unknown")
    await #expect(throws: StorageFault.self) {
      try await ledger.append([.runResumed], at: Sample.now)
    }
  }

  /// All events are added, or no event is added: the second start is refused together with the
  /// event after it.
  @Test func aRefusedAppendAddsNothing() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    try await Sample.record(store)
    await #expect(throws: StorageFault.self) {
      try await store.ledger(of: "r1").append(
        [Sample.beginning, .runResumed], at: Sample.now)
    }
    #expect(try await store.ledger(of: "r1").history().count == 10)
  }

  /// The permanent format of existing files: a change here requires a new version of the store.
  @Test(arguments: [
    (
      Sample.beginning,
      #"{"runBegan":{"_0":{"campaign":"doors","devices":2,"digest":"d","id":"r1","waves":1}}}"#
    ),
    (
      FleetEvent.wavePlanned(
        wave: 1, name: "a/b", devices: [RunDevice(id: "x", name: "n", site: "s", image: "i")]),
      #"{"wavePlanned":{"devices":[{"id":"x","image":"i","name":"n","site":"s"}],"name":"a/b","wave":1}}"#
    ),
    (.waveBegan(wave: 0), #"{"waveBegan":{"wave":0}}"#),
    (
      .devicePublished(device: "d", attempt: 2, verifyFirst: true),
      #"{"devicePublished":{"attempt":2,"device":"d","look":true}}"#
    ),
    (
      .deviceClaimed(device: "d", attempt: 1, worker: "w"),
      #"{"deviceClaimed":{"attempt":1,"device":"d","worker":"w"}}"#
    ),
    (
      .devicePlaced(device: "d", attempt: 1, adapter: "hci0"),
      #"{"devicePlaced":{"adapter":"hci0","attempt":1,"device":"d"}}"#
    ),
    (
      .deviceActivating(device: "d", attempt: 1),
      #"{"deviceActivating":{"attempt":1,"device":"d"}}"#
    ),
    (.claimExpired(device: "d", attempt: 1), #"{"claimExpired":{"attempt":1,"device":"d"}}"#),
    (
      .attemptEnded(
        device: "d", attempt: 1,
        ending: .updated(
          UpdateFigures(
            from: FirmwareVersion(1, 2, 0), to: FirmwareVersion(1, 3, 0), proof: "read-back",
            bytes: 9, uploadMilliseconds: 8, resumes: 1))),
      #"{"attemptEnded":{"attempt":1,"device":"d","ending":{"updated":{"_0":{"from":"1.2.0","octets":9,"proof":"read-back","resumes":1,"to":"1.3.0","uploadMilliseconds":8}}}}}"#
    ),
    (
      .attemptEnded(
        device: "d", attempt: 1, ending: .failed(AttemptFailure(.link, code: "c", words: "w"))),
      #"{"attemptEnded":{"attempt":1,"device":"d","ending":{"failed":{"_0":{"code":"c","isFinal":false,"kind":"link","wasSeen":true,"words":"w"}}}}}"#
    ),
    (
      .attemptEnded(device: "d", attempt: 1, ending: .returned(.holderGone)),
      #"{"attemptEnded":{"attempt":1,"device":"d","ending":{"returned":{"_0":"holder-gone"}}}}"#
    ),
    (
      .deviceDeferred(device: "d", until: WallClockTime(milliseconds: 5)),
      #"{"deviceDeferred":{"device":"d","until":5}}"#
    ),
    (
      .deviceSettled(device: "d", ending: .absent),
      #"{"deviceSettled":{"device":"d","ending":{"absent":{}}}}"#
    ),
    (.deviceRetried(device: "d"), #"{"deviceRetried":{"device":"d"}}"#),
    (
      .waveSoaking(wave: 0, until: WallClockTime(milliseconds: 5)),
      #"{"waveSoaking":{"until":5,"wave":0}}"#
    ),
    (
      .waveJudged(wave: 0, verdict: .stop(failures: 1, of: 2)),
      #"{"waveJudged":{"verdict":{"stop":{"failures":1,"of":2}},"wave":0}}"#
    ),
    (
      .operatorActed(OperatorAction(.approve, by: "anna@line-3", reason: "r")),
      #"{"operatorActed":{"_0":{"by":"anna@line-3","kind":"approve","reason":"r"}}}"#
    ),
    (.approvalAwaited(wave: 0), #"{"approvalAwaited":{"wave":0}}"#),
    (.waveApproved(wave: 0), #"{"waveApproved":{"wave":0}}"#),
    (.runPaused(because: .asked), #"{"runPaused":{"because":{"asked":{}}}}"#),
    (
      .runPaused(because: .infrastructure(failures: 3, words: "w")),
      #"{"runPaused":{"because":{"infrastructure":{"failures":3,"words":"w"}}}}"#
    ),
    (.runResumed, #"{"runResumed":{}}"#), (.runCancelled, #"{"runCancelled":{}}"#),
    (.runEnded(.stopped(wave: 1)), #"{"runEnded":{"_0":{"stopped":{"wave":1}}}}"#),
  ])
  func theStoredFormOfEventsIsPermanent(_ event: FleetEvent, _ text: String) throws {
    #expect(try StoredValue.text(event) == text)
    #expect(try StoredValue.value(FleetEvent.self, text) == event)
  }

  @Test func requestsWaitForTheirAnswer() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    try await Sample.record(store)
    try folder.store().request(.pause, of: "r1", at: Sample.now)
    try folder.store().request(.retry(["a", "b"]), of: "r1", at: Sample.now)
    let orders = store.commands(of: "r1")
    let pending = try await orders.pending()
    #expect(pending.map(\.command) == [.pause, .retry(["a", "b"])])
    try await orders.answer(pending[0], "paused")
    #expect(try await orders.pending() == [pending[1]])
    #expect(throws: StorageFault.self) {
      try store.request(.pause, of: "unknown", at: Sample.now)
    }
  }

  /// Former versions stored only the command; their requests are executed as well.
  @Test func aRequestHasItsOperator() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    try await Sample.record(store)
    let action = OperatorAction(.approve, by: "anna@line-3", reason: "the canary looks good")
    try store.request(.resume, by: action, of: "r1", at: Sample.now)
    try store.request(.cancel, of: "r1", at: Sample.now)
    let pending = try await store.commands(of: "r1").pending()
    #expect(pending.map(\.command) == [.resume, .cancel])
    #expect(pending.map(\.action) == [action, nil])
  }

  @Test func aRunIsFoundByAPrefixOfItsName() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    #expect(throws: RunSearchFault.none) { try store.run(named: nil) }
    for run in ["abc", "abd", "xyz"] { try await Sample.record(store, run: run) }
    #expect(try store.run(named: "abc").id == "abc")
    #expect(try store.run(named: "x").id == "xyz")
    #expect(throws: RunSearchFault.ambiguous("ab", ["abd", "abc"])) { try store.run(named: "ab") }
    #expect(throws: RunSearchFault.unknown("q")) { try store.run(named: "q") }
    #expect(throws: RunSearchFault.unknown("")) { try store.run(named: "") }
  }
}
#endif
