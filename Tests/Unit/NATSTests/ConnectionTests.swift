#if Sites
import OtaflashNATS
import OtaflashNATSServer
import Testing

/// Tests of lost connections: each failure must state whether the request may have taken effect.
@Suite(.enabled(if: NATSServer.areInstalled, "\(NATSServer.note)")) struct ConnectionTests {
  static let moment = Duration.milliseconds(400)

  @Test(arguments: NATSServer.Version.allCases)
  func aKilledServerEndsTheCallAndReturns(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await JetStreamTests.kitchen(server)
    let fetch = Task { try await JetStreamTests.fetch(stream) }
    try await JetStreamTests.waiting(1, stream)
    server.kill()
    let fault = await #expect(throws: NATSFault.self) { try await fetch.value }
    #expect(fault == .connectionLost && fault?.effect == .unknown)
    // This call waits until the server is back.
    async let confirmation = stream.publish(JetStreamTests.job("a"))
    try await server.start()
    #expect(try await confirmation.sequence == 1)
    #expect(try await JetStreamTests.fetch(stream)?.message.subject == "flash.job.kitchen.a")
  }

  @Test(arguments: NATSServer.Version.allCases)
  func confirmedWritesSurviveCrashes(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let state = try await KeyValueTests.bucket(server)
    var revision: UInt64 = 0
    for round in 0..<3 {
      for number in 0..<20 {
        let value = [UInt8(round), UInt8(number)]
        revision = try #require(try await state.update("a", value, expecting: revision))
      }
      server.kill()
      try await server.start()
      let entry = try #require(try await Self.repeated { try await state.entry("a") })
      #expect(entry.revision == revision && entry.value == [UInt8(round), 19])
    }
  }

  /// Repeats a call that the crash of the server ended.
  static func repeated<Value>(_ body: () async throws -> Value) async throws -> Value {
    while true {
      do { return try await body() } catch NATSFault.connectionLost {
      } catch NATSFault.notConnected {}
    }
  }

  @Test(arguments: NATSServer.Version.allCases)
  func anUnansweredWriteMayHaveTakenEffect(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let connection = try await server.connect(callLimit: Self.moment)
    let state = try await KeyValueBucket(
      KeyValueConfiguration(bucket: "STATE"), of: try JetStream(connection))
    try server.pause()
    let fault = await #expect(throws: NATSFault.self) { try await state.create("a", [7]) }
    #expect(fault == .timedOut && fault?.effect == .unknown)
    server.resume()
    // Server 2.14 may answer a read before a write that it received earlier.
    while try await Self.repeated({ try await state.entry("a") })?.value != [7] {}
  }

  /// A query is repeated until a reply arrives, because servers without a leader store no request;
  /// another request is sent once.
  @Test(arguments: NATSServer.Version.allCases)
  func onlyAQueryIsRepeated(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let connection = try await server.connect(callLimit: Self.moment)
    let stream = try JetStream(connection)
    try await stream.createStream(StreamConfiguration(name: "CALLS", subjects: ["call.>"]))
    try server.pause()
    await #expect(throws: NATSFault.timedOut) {
      try await connection.request(NATSMessage(subject: "call.once"))
    }
    await #expect(throws: NATSFault.timedOut) {
      try await connection.query(NATSMessage(subject: "call.repeated"))
    }
    server.resume()
    // The server stores the messages of a connection in their order.
    _ = try await Self.repeated { try await stream.publish(NATSMessage(subject: "call.last")) }
    let stored = try await stream.messages(in: "CALLS", matching: "call.>")
    #expect(stored == ["call.once": 1, "call.repeated": 5, "call.last": 1])
  }

  @Test(arguments: NATSServer.Version.allCases)
  func withoutAServerNothingIsSent(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let connection = try await server.connect(callLimit: Self.moment)
    let state = try await KeyValueBucket(
      KeyValueConfiguration(bucket: "STATE"), of: try JetStream(connection))
    server.kill()
    // The loss is reported by another thread.
    while connection.isConnected {}
    for _ in 0..<2 {
      let fault = await #expect(throws: NATSFault.self) { try await state.create("a", [7]) }
      #expect(fault == .notConnected && fault?.effect == NATSFault.Effect.none)
    }
    let call = Task { try await state.put("a", [1]) }
    call.cancel()
    let fault = await #expect(throws: NATSFault.self) { try await call.value }
    #expect(fault == .cancelled(isSent: false))
    try await server.start()
    #expect(try await Self.repeated { try await state.entry("a") } == nil)
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aClosedConnectionEndsItsCalls(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await JetStreamTests.kitchen(server)
    let connection = try await server.connect()
    let other = try JetStream(connection)
    let fetch = Task { try await JetStreamTests.fetch(other) }
    try await JetStreamTests.waiting(1, stream)
    await connection.close()
    await #expect(throws: NATSFault.closed) { try await fetch.value }
    await #expect(throws: NATSFault.closed) { try await other.stream("FLASH") }
    await connection.close()
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aRequestIsAnswered(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let connection = try await server.connect()
    let fault = await #expect(throws: NATSFault.self) {
      try await connection.request(NATSMessage(subject: "nothing.here"))
    }
    #expect(fault == .noResponders("nothing.here"))
    // A message without a reply subject and without a subscriber is lost.
    try await connection.publish(NATSMessage(subject: "flash.progress.kitchen", payload: [1]))
  }

  @Test func withoutAServerNoConnectionIsMade() async throws {
    let options = NATSOptions(servers: ["nats://127.0.0.1:1"], name: "test")
    let fault = await #expect(throws: NATSFault.self) {
      _ = try await NATSConnection(options, clock: ContinuousClock())
    }
    guard case .unreachable = fault else { throw fault ?? .closed }
  }

  /// A delivered job can be renewed and acknowledged after a crash of the server.
  @Test(arguments: NATSServer.Version.allCases)
  func aJobSurvivesACrash(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await JetStreamTests.kitchen(server)
    _ = try await stream.publish(JetStreamTests.job("a"))
    let delivery = try #require(try await JetStreamTests.fetch(stream))
    server.kill()
    try await server.start()
    try await Self.repeated { try await delivery.renew() }
    try await Self.repeated { try await delivery.acknowledge() }
    #expect(try await stream.stream("FLASH").content.messages == 0)
  }

  @Test(arguments: NATSServer.Version.allCases)
  func manyConnectionsEndWithoutALeak(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await JetStreamTests.kitchen(server)
    for _ in 0..<20 {
      let connection = try await server.connect()
      let other = try JetStream(connection)
      let fetch = Task { try await JetStreamTests.fetch(other) }
      try await JetStreamTests.waiting(1, stream)
      fetch.cancel()
      _ = await fetch.result
      await connection.close()
      try await JetStreamTests.waiting(0, stream)
    }
  }
}
#endif
