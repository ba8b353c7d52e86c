#if Sites
import OtaflashFleet
import OtaflashNATS
import OtaflashNATSServer
import OtaflashSites
import Testing

/// Claims that fail: the job must neither wait for the end of a time limit nor be lost.
@Suite(.enabled(if: NATSServer.areInstalled, "\(NATSServer.note)")) struct SiteWorkerTests {
  private static let worker = FleetWorker(name: "a", site: "kitchen")

  @Test(arguments: NATSServer.Version.allCases)
  func anOfferWithoutAClaimIsGivenBack(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await server.jetStream()
    try await SiteStreams.create(on: stream)
    try await stream.createConsumer(
      ConsumerConfiguration(
        name: "kitchen", filter: "flash.job.kitchen.>", acknowledgementLimit: .seconds(86_400)),
      of: "FLASH")
    let key = SiteLayout.key(site: "kitchen", device: "a")
    // The worker cannot read this entry.
    try await KeyValueBucket("STATE", of: stream).put(key, [1])
    try await stream.publish(NATSMessage(subject: SiteLayout.offer(key), payload: []))
    let exchange = try JetStreamExchange(stream, clock: SystemClock())
    await #expect(throws: ExchangeFault.self) {
      try await exchange.claim(for: Self.worker, lease: .seconds(45), waitingUpTo: .zero)
    }
    let offer = try await stream.fetch(from: "kitchen", of: "FLASH", expiry: .seconds(60))
    #expect(offer?.deliveries == 2)
  }

  /// A claim whose reply is lost is repeated with the revision that it expected.
  @Test(arguments: NATSServer.Version.allCases)
  func anUnconfirmedClaimIsRepeated(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await server.jetStream()
    try await SiteStreams.create(on: stream)
    let leader = try SiteCoordinator(stream, clock: SystemClock(), elapsed: { .zero })
    let coordinator = try JetStreamExchange(stream, clock: SystemClock(), coordinator: leader)
    let serving = Task { await leader.serve() }
    try await coordinator.open("run")
    try await coordinator.publish(
      UpdateJob(
        id: UpdateJob.ID(run: "run", device: "a", attempt: 1), site: "kitchen", image: "i",
        verifyFirst: false, order: WorkOrder()))
    let exchange = try JetStreamExchange(
      JetStream(try await server.connect(callLimit: .milliseconds(400))), clock: SystemClock(),
      journal: PausingJournal(server: server))
    await #expect(throws: ExchangeFault.self) {
      try await exchange.claim(for: Self.worker, lease: .seconds(45), waitingUpTo: .zero)
    }
    // The paused server has not received the claim, so the claim ends with the process.
    server.kill()
    try await server.start()
    var claims: [JobClaim]?
    while claims == nil {
      do throws(ExchangeFault) { claims = try await exchange.claims(of: Self.worker) } catch {
        guard case .unavailable = error else { throw error }
      }
    }
    let claim = try #require(claims?.first)
    #expect(try await exchange.renew(claim, lease: .seconds(45)) == .held)
    serving.cancel()
    await serving.value
  }
}

/// A journal that pauses the server before the worker sends a claim.
private final class PausingJournal: ClaimJournal {
  private let journal = MemoryClaimJournal()
  private let server: NATSServer

  init(server: NATSServer) { self.server = server }

  var keys: [String] { journal.keys }

  func add(_ key: String) {
    journal.add(key)
    do { try server.pause() } catch { preconditionFailure("the server is running: \(error)") }
  }

  func remove(_ key: String) { journal.remove(key) }
}
#endif
