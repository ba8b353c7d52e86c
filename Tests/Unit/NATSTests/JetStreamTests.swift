#if Sites
import OtaflashNATS
import OtaflashNATSServer
import Testing

/// Streams and consumers, on both versions of the server.
@Suite(.enabled(if: NATSServer.areInstalled, "\(NATSServer.note)")) struct JetStreamTests {
  static let moment = Duration.milliseconds(400)
  static let ample = Duration.seconds(60)

  /// The stream of jobs, with the configuration of the layout.
  static var jobs: StreamConfiguration {
    var stream = StreamConfiguration(name: "FLASH", subjects: ["flash.job.>"])
    stream.retention = .workQueue
    stream.maximumMessagesPerSubject = 1
    stream.discard = .new
    stream.discardsNewPerSubject = true
    return stream
  }

  static func job(_ device: String, site: String = "kitchen", _ text: String = "") -> NATSMessage {
    NATSMessage(
      subject: "flash.job.\(site).\(device)", headers: ["Kind": "job"], payload: Array(text.utf8))
  }

  /// Creates the stream and the consumer of the site "kitchen".
  static func kitchen(
    _ server: NATSServer, acknowledgementLimit: Duration = ample
  ) async throws -> JetStream {
    let stream = try await server.jetStream()
    try await stream.createStream(jobs)
    try await stream.createConsumer(
      ConsumerConfiguration(
        name: "kitchen", filter: "flash.job.kitchen.>", acknowledgementLimit: acknowledgementLimit),
      of: "FLASH")
    return stream
  }

  static func fetch(
    _ stream: JetStream, within expiry: Duration = ample
  ) async throws -> DeliveredMessage? {
    try await stream.fetch(from: "kitchen", of: "FLASH", expiry: expiry)
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aStreamIsCreatedOnceAndUpdated(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await server.jetStream()
    var configuration = Self.jobs
    let created = try await stream.createStream(configuration)
    #expect(created.configuration == configuration)
    #expect(try await stream.createStream(configuration) == created)
    configuration.maximumBytes = 1 << 20
    await #expect(throws: (any Error).self) { try await stream.createStream(configuration) }
    #expect(try await stream.ensureStream(configuration).configuration == configuration)
    #expect(try await stream.stream("FLASH").configuration == configuration)
    try await stream.deleteStream("FLASH")
    let fault = await #expect(throws: NATSFault.self) { try await stream.stream("FLASH") }
    guard case .refused(let refusal) = fault else { throw fault ?? .closed }
    #expect(refusal.number == JetStreamRefusal.streamNotFound && refusal.status == 404)
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aDeviceHasOneOpenJob(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await Self.kitchen(server)
    #expect(try await stream.publish(Self.job("a")).sequence == 1)
    let fault = await #expect(throws: NATSFault.self) { try await stream.publish(Self.job("a")) }
    guard case .refused(let refusal) = fault else { throw fault ?? .closed }
    #expect(refusal.number == JetStreamRefusal.notStored && fault?.effect == NATSFault.Effect.none)
    let delivery = try #require(try await Self.fetch(stream))
    try await delivery.acknowledge()
    #expect(try await stream.publish(Self.job("a")).sequence == 2)
    #expect(try await stream.stream("FLASH").content.messages == 1)
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aRepeatedMessageIsRecognizedByItsID(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await Self.kitchen(server)
    let first = try await stream.publish(Self.job("a"), id: "1")
    let second = try await stream.publish(Self.job("a"), id: "1")
    #expect(!first.isDuplicate && second.isDuplicate && first.sequence == second.sequence)
    let fault = await #expect(throws: NATSFault.self) {
      try await stream.publish(Self.job("b"), expecting: 7)
    }
    guard case .refused(let refusal) = fault else { throw fault ?? .closed }
    #expect(refusal.number == JetStreamRefusal.wrongLastSequence)
    #expect(try await stream.publish(Self.job("b"), expecting: 0).sequence == 2)
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aJobArrivesWithItsContent(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await Self.kitchen(server)
    _ = try await stream.publish(Self.job("x", site: "hall"))
    async let waiting = Self.fetch(stream)
    _ = try await stream.publish(Self.job("a", "order\u{0}\n"))
    let delivery = try #require(try await waiting)
    #expect(delivery.message.subject == "flash.job.kitchen.a")
    #expect(delivery.message.payload == Array("order\u{0}\n".utf8))
    #expect(delivery.message.headers["Kind"] == "job")
    #expect(delivery.sequence == 2 && delivery.deliveries == 1)
    #expect(try await stream.consumer("kitchen", of: "FLASH").open == 1)
    try await delivery.acknowledge()
    let state = try await stream.consumer("kitchen", of: "FLASH")
    #expect(state.open == 0 && state.pending == 0)
    #expect(state.configuration.filter == "flash.job.kitchen.>")
    #expect(try await stream.messages(in: "FLASH", matching: ">") == ["flash.job.hall.x": 1])
    #expect(try await Self.fetch(stream, within: Self.moment) == nil)
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aConsumerThatDoesNotExistIsReported(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try JetStream(try await server.connect(callLimit: .seconds(1)))
    try await stream.createStream(Self.jobs)
    try await stream.createConsumer(
      ConsumerConfiguration(name: "kitchen", filter: "flash.job.kitchen.>"), of: "FLASH")
    try await stream.deleteConsumer("kitchen", of: "FLASH")
    let fault = await #expect(throws: NATSFault.self) {
      try await Self.fetch(stream, within: Self.moment)
    }
    switch fault {
    case .noResponders("$JS.API.CONSUMER.MSG.NEXT.FLASH.kitchen"): break
    case .refused(let refusal): #expect(refusal.number == JetStreamRefusal.consumerNotFound)
    default: throw fault ?? .closed
    }
  }

  /// Waits until a number of pull requests wait at the server.
  static func waiting(_ count: Int, _ stream: JetStream) async throws {
    while try await stream.consumer("kitchen", of: "FLASH").waiting != count {}
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aCancelledFetchEndsAndItsJobIsReturned(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await Self.kitchen(server)
    let first = Task { try await Self.fetch(stream) }
    try await Self.waiting(1, stream)
    first.cancel()
    await #expect(throws: NATSFault.cancelled(isSent: true)) { try await first.value }
    // The server sends this job to the request of the cancelled fetch.
    _ = try await stream.publish(Self.job("a"))
    let delivery = try #require(try await Self.fetch(stream))
    #expect(delivery.message.subject == "flash.job.kitchen.a")
    try await delivery.acknowledge()
  }

  @Test(arguments: NATSServer.Version.allCases)
  func twoFetchesOfOneConnectionGetTwoJobs(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await Self.kitchen(server)
    async let first = Self.fetch(stream)
    async let second = Self.fetch(stream)
    try await Self.waiting(2, stream)
    _ = try await stream.publish(Self.job("a"))
    _ = try await stream.publish(Self.job("b"))
    let jobs = try await [first, second].map { $0?.message.subject }
    #expect(Set(jobs) == ["flash.job.kitchen.a", "flash.job.kitchen.b"])
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aSilentJobIsDeliveredAgain(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await Self.kitchen(server, acknowledgementLimit: Self.moment)
    _ = try await stream.publish(Self.job("a"))
    let first = try #require(try await Self.fetch(stream))
    let second = try #require(try await Self.fetch(stream))
    #expect(first.sequence == second.sequence && second.deliveries == 2)
    // Acknowledgements are not exclusive: the first worker removes the job of the second one.
    try await first.acknowledge()
    #expect(try await stream.stream("FLASH").content.messages == 0)
    try await second.acknowledge()
  }

  /// A loaded machine can delay a renewal beyond the limit, so one attempt is not sufficient.
  @Test(arguments: NATSServer.Version.allCases)
  func aRenewedJobIsNotDeliveredAgain(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await Self.kitchen(server, acknowledgementLimit: .seconds(2))
    for attempt in 1...5 {
      _ = try await stream.publish(Self.job("a\(attempt)"))
      let job = try #require(try await Self.fetch(stream))
      if try await Self.renew(job, of: stream, for: .seconds(3)) { return }
      try await job.acknowledge()
    }
    Issue.record("a renewed job was delivered again in each of 5 attempts")
  }

  /// Renews a job for `duration`. Returns whether the server did not deliver the job again.
  private static func renew(
    _ job: DeliveredMessage, of stream: JetStream, for duration: Duration
  ) async throws -> Bool {
    let start = ContinuousClock.now
    while ContinuousClock.now - start < duration {
      guard try await fetch(stream, within: .milliseconds(100)) == nil else { return false }
      try await job.renew()
    }
    return true
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aJobIsReturnedOrTerminated(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await Self.kitchen(server)
    _ = try await stream.publish(Self.job("a"))
    let first = try #require(try await Self.fetch(stream))
    try await first.giveBack()
    let second = try #require(try await Self.fetch(stream))
    let start = ContinuousClock.now
    try await second.giveBack(after: Self.moment)
    let third = try #require(try await Self.fetch(stream))
    #expect(third.deliveries == 3 && ContinuousClock.now - start >= Self.moment / 2)
    try await third.terminate()
    #expect(try await stream.stream("FLASH").content.messages == 0)
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aJobIsCancelledByItsSequence(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await Self.kitchen(server)
    for device in ["a", "b", "c"] { _ = try await stream.publish(Self.job(device, device)) }
    let stored = try #require(try await stream.lastMessage(in: "FLASH", of: "flash.job.kitchen.b"))
    #expect(stored.sequence == 2 && stored.payload == Array("b".utf8))
    #expect(stored.headers == ["Kind": "job"])
    #expect(try await stream.message(in: "FLASH", sequence: 2) == stored)
    #expect(try await stream.deleteMessage(in: "FLASH", sequence: 2))
    #expect(try await !stream.deleteMessage(in: "FLASH", sequence: 2))
    #expect(try await stream.message(in: "FLASH", sequence: 2) == nil)
    #expect(try await stream.lastMessage(in: "FLASH", of: "flash.job.kitchen.b") == nil)
    for device in ["a", "c"] {
      let delivery = try #require(try await Self.fetch(stream))
      #expect(delivery.message.payload == Array(device.utf8))
      try await delivery.acknowledge()
    }
  }

  @Test(arguments: NATSServer.Version.allCases)
  func invalidNamesAreNotSent(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await Self.kitchen(server)
    for device in ["", "a b", "a\r\nPUB x 0", "*", ">", "a..b"] {
      await #expect(throws: NATSFault.self) { try await stream.publish(Self.job(device)) }
    }
    await #expect(throws: NATSFault.invalidName("a.b")) { try await stream.stream("a.b") }
    await #expect(throws: NATSFault.invalidName("a\tb")) { try await stream.deleteStream("a\tb") }
  }
}
#endif
