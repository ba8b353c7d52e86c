#if Sites
import OtaflashFleet
import OtaflashNATS
import OtaflashNATSServer
import OtaflashSites
import Testing

/// Tests of an event log that was restored from a backup.
@Suite struct LogStandingTests {
  static let moment = WallClockTime(milliseconds: 1_700_000_000_000)

  /// Returns a run with one device after its start and the given events.
  static func run(_ events: [FleetEvent]) throws -> FleetRun {
    let campaign = Campaign(
      name: "c", devices: [FleetDevice(id: "d", site: "s")], images: [nil: "i"],
      waves: [Wave("all", .rest)])
    let plan = try CampaignPlan(campaign, now: moment)
    let beginning = plan.beginning(id: "r", digest: "", imageDigests: ["i": "i"])
    return FleetRun(
      (beginning + events).enumerated().map {
        RecordedEvent(number: $0 + 1, at: moment, event: $1)
      })
  }

  private static func standing(
    _ events: [FleetEvent], attempt: Int, isOpen: Bool
  ) throws -> LogStanding {
    let id = UpdateJob.ID(run: "r", device: "d", attempt: attempt)
    return LogStanding(of: try run(events), jobs: [(id, isOpen)])
  }

  static let published = [
    FleetEvent.waveBegan(wave: 0), .devicePublished(device: "d", attempt: 1, verifyFirst: false),
  ]

  @Test func aLogWithTheOpenAttemptIsCurrent() throws {
    #expect(try Self.standing(Self.published, attempt: 1, isOpen: true) == .current)
  }

  @Test func aLogWithoutTheOutcomeIsBehind() throws {
    #expect(try Self.standing(Self.published, attempt: 1, isOpen: false) == .behind)
  }

  @Test func aLogWithoutTheAttemptIsLost() throws {
    #expect(try Self.standing(Self.published, attempt: 2, isOpen: true) == .lost("d"))
    #expect(try Self.standing([], attempt: 1, isOpen: false) == .lost("d"))
  }

  @Test func aLogThatKnowsMoreIsCurrent() throws {
    let ended =
      Self.published + [
        .attemptEnded(device: "d", attempt: 1, ending: .returned(.stopping)),
        .deviceDeferred(device: "d", until: Self.moment),
        .devicePublished(device: "d", attempt: 2, verifyFirst: true),
      ]
    #expect(try Self.standing(ended, attempt: 1, isOpen: false) == .current)
  }
}

/// The same with a server, which states that the missing facts were recorded.
@Suite(.enabled(if: NATSServer.areInstalled, "\(NATSServer.note)"), SharedServer(version: .debian))
struct RestoreTests {
  private static let worker = FleetWorker(name: "w", site: "s")
  private static let job = UpdateJob(
    id: UpdateJob.ID(run: "r", device: "d", attempt: 1), site: "s", image: "i")

  /// Runs `body` with a new coordinator, as after a restart.
  private static func withCoordinator<Value: Sendable>(
    _ stream: JetStream,
    _ body: (SiteCoordinator, JetStreamExchange) async throws -> Value
  ) async throws -> Value {
    let clock = SystemClock()
    let coordinator = try SiteCoordinator(stream, clock: clock, elapsed: { clock.now.elapsed })
    let exchange = try JetStreamExchange(stream, clock: clock, coordinator: coordinator)
    let serving = Task { await coordinator.serve() }
    let result: Result<Value, any Error>
    do { result = .success(try await body(coordinator, exchange)) } catch {
      result = .failure(error)
    }
    serving.cancel()
    await serving.value
    return try result.get()
  }

  @Test func factsThatABackupLacksAreReadAgain() async throws {
    let connection = try await NATSConnection(
      try SharedServer.account(), clock: ContinuousClock())
    let stream = try JetStream(connection)
    try await SiteStreams.create(on: stream)
    try await Self.withCoordinator(stream) { _, exchange in
      try await exchange.open("r")
      try await exchange.publish(Self.job)
      let claim = try #require(
        try await exchange.claim(for: Self.worker, lease: .seconds(45), waitingUpTo: .zero))
      try await exchange.finish(claim, .current(version: nil))
      let facts = try await exchange.facts(of: "r", after: 0, limit: 10)
      _ = try await exchange.facts(of: "r", after: facts.last?.number ?? 0, limit: 10)
    }
    let current =
      LogStandingTests.published + [
        .deviceClaimed(device: "d", attempt: 1, worker: "w"),
        .attemptEnded(device: "d", attempt: 1, ending: .current(version: nil)),
        .deviceSettled(device: "d", ending: .current),
      ]
    let logs = [
      (LogStandingTests.published, LogStanding.behind, 2), (current, .current, 0),
      ([], .lost("d"), 0),
    ]
    for (events, standing, count) in logs {
      let run = try LogStandingTests.run(events)
      try await Self.withCoordinator(stream) { coordinator, exchange in
        #expect(try await coordinator.standing(of: run) == standing)
        try await exchange.open("r")
        #expect(try await exchange.facts(of: "r", after: 0, limit: 10).count == count)
      }
    }
    await connection.close()
  }
}
#endif
