#if Sites
import OtaflashNATS
import OtaflashNATSServer
import Testing

/// Tests of a site with a separate server, which is a leaf node of the hub.
@Suite(.enabled(if: NATSServer.areInstalled, "\(NATSServer.note)")) struct DomainTests {
  /// Repeats a call until the two servers are connected.
  static func whenConnected<Value>(_ body: () async throws -> Value) async throws -> Value {
    while true {
      do { return try await body() } catch NATSFault.noResponders {
        await Task.yield()
      } catch NATSFault.timedOut { await Task.yield() }
    }
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aLeafWorksForTheHub(_ version: NATSServer.Version) async throws {
    let hub = try await NATSServer(
      version, "leafnodes { host: 127.0.0.1, port: -1 }", jetStream: "domain: hub")
    let port = try #require(hub.leafPort)
    let leaf = try await NATSServer(
      version, "leafnodes { remotes: [ { url: \"nats://127.0.0.1:\(port)\" } ] }",
      jetStream: "domain: leaf")
    let coordinator = try await JetStreamTests.kitchen(hub)
    try await coordinator.publish(JetStreamTests.job("a"))

    let connection = try await leaf.connect(callLimit: .seconds(2))
    let gateway = try JetStream(connection, domain: "hub")
    let job = try await Self.whenConnected { try await JetStreamTests.fetch(gateway) }
    let delivery = try #require(job)
    let state = try await KeyValueBucket(KeyValueConfiguration(bucket: "STATE"), of: coordinator)
    try await state.put("kitchen.a", [1])
    let remote = try KeyValueBucket("STATE", of: gateway)
    let entry = try #require(try await remote.entry("kitchen.a"))
    #expect(try await remote.update("kitchen.a", [2], expecting: entry.revision) != nil)
    #expect(try await remote.update("kitchen.a", [3], expecting: entry.revision) == nil)
    #expect(try await state.entry("kitchen.a")?.value == [2])
    #expect(try await remote.entries().map(\.value) == [[2]])
    try await delivery.renew()
    try await delivery.acknowledge()
    #expect(try await coordinator.stream("FLASH").content.messages == 0)

    // Progress is stored at the leaf, and copied to the hub.
    let here = try JetStream(connection)
    var progress = StreamConfiguration(
      name: "PROGRESS", subjects: ["flash.progress.kitchen.>"])
    progress.maximumAge = .seconds(7 * 24 * 3600)
    try await here.createStream(progress)
    var all = StreamConfiguration(name: "PROGRESS", subjects: [])
    all.sources = [StreamSource(name: "PROGRESS", domain: "leaf")]
    let created = try await coordinator.createStream(all)
    #expect(created.configuration.sources == all.sources)
    try await here.publish(NATSMessage(subject: "flash.progress.kitchen.a", payload: [50]))
    while try await coordinator.stream("PROGRESS").content.messages == 0 {}
    let copied = try await coordinator.message(in: "PROGRESS", sequence: 1)
    #expect(copied?.payload == [50] && copied?.subject == "flash.progress.kitchen.a")
  }
}
#endif
