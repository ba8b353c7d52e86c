#if Fleet
import OtaflashFirmware
import OtaflashFleet
import Testing

@testable import OtaflashFleetStore

/// Tests of stores up to version 4 that contain unread reports of workers.
@Suite struct FormerNewsTests {
  /// Returns the folder of a store in which `a` was placed and `b` waits. The coordinator has read
  /// the first report.
  private static func folder(_ news: [(device: String, attempt: Int, fact: String)]) throws
    -> StoreFolder
  {
    let folder = try StoreFolder()
    _ = try FirstVersion.write(to: folder, count: 6)
    for (index, item) in ([("a", 1, #"{"claimed":{"worker":"local"}}"#)] + news).enumerated() {
      try folder.sql(
        "INSERT INTO news VALUES (\(index + 1), 'r1', '\(item.0)', \(item.1), '\(item.2)')")
    }
    try folder.sql("UPDATE run SET news_seen = 1")
    return folder
  }

  private static let activating = #"{"reported":{"_0":{"activating":{}}}}"#
  private static let updated = """
    {"ended":{"_0":{"updated":{"_0":{"from":"1.2.0","octets":1,"proof":"read-back","resumes":0,\
    "to":"1.3.0","uploadMilliseconds":1}}}}}
    """

  @Test func unreadReportsAreRecordedOnce() async throws {
    let folder = try Self.folder([
      ("a", 1, Self.activating), ("a", 2, Self.activating), ("a", 1, Self.updated),
      ("a", 1, Self.updated), ("b", 1, Self.updated),
    ])
    let store = try folder.store()
    let events = try await store.ledger(of: "r1").history()
    let figures = UpdateFigures(
      from: FirmwareVersion(1, 2, 0), to: FirmwareVersion(1, 3, 0), proof: "read-back", bytes: 1,
      uploadMilliseconds: 1, resumes: 0)
    #expect(
      events.dropFirst(6).map(\.event) == [
        .deviceActivating(device: "a", attempt: 1),
        .attemptEnded(device: "a", attempt: 1, ending: .updated(figures)),
      ])
    guard case .intact(8, _) = try store.verify(run: "r1") else {
      return #expect(Bool(false), "the chain continues")
    }
    #expect(try await folder.store().ledger(of: "r1").history() == events, "they are read once")
  }

  /// The run continues, and the next attempt first queries the device for its running image.
  @Test func theRunContinues() async throws {
    let store = try Self.folder([("a", 1, Self.activating), ("a", 1, Self.updated)]).store()
    var run = FleetRun(try await store.ledger(of: "r1").history())
    let rules = FleetRules(
      Campaign(
        name: "doors", devices: [], images: [nil: "i"], waves: [Wave("all", .rest)]))
    let restart = rules.eventsOfRestart(in: run, now: Sample.now)
    #expect(restart == [.deviceDeferred(device: "a", until: run.lastAt)])
    for event in restart { run.apply(event, at: run.lastAt) }
    #expect(run["a"]?.mayRunNewImage == true)
  }

  @Test func claimsOfTheFormerProcessAreAbandoned() async throws {
    let store = try Self.folder([]).store()
    let run = FleetRun(try await store.ledger(of: "r1").history())
    let rules = FleetRules(
      Campaign(name: "doors", devices: [], images: [nil: "i"], waves: [Wave("all", .rest)]))
    #expect(
      rules.eventsOfRestart(in: run, now: Sample.now) == [
        .attemptEnded(device: "a", attempt: 1, ending: .returned(.holderGone)),
        .deviceDeferred(device: "a", until: run.lastAt),
      ])
  }
}
#endif
