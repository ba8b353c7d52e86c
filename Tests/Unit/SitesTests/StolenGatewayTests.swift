#if Sites
import Foundation
import OtaflashNATS
import OtaflashNATSServer
import OtaflashSites
import Testing

/// Tests of each forbidden operation. The client has the key of a gateway and can send any request.
@Suite(.enabled(if: NATSServer.areInstalled, "\(NATSServer.note)")) struct StolenGatewayTests {
  let folders = TemporaryFolders()

  /// Performs an operation and three permitted reads after it. Returns the server's answers, except
  /// the answers to the reads.
  private static func answer(
    to operation: ForbiddenOperation, _ client: RawClient, isExpected: Bool
  ) throws -> String {
    if operation.isSubscription {
      try client.subscribe(operation.subject)
    } else {
      try client.publish(
        operation.subject, Array(operation.payload.utf8),
        reply: operation.reply ?? Deployment.reply, header: operation.header)
    }
    var lines = try client.flush()
    // The server has executed a permitted operation when it has executed a later one as well.
    // However, server 2.14 may answer a read before a write that it has received earlier.
    var fences = 0
    while fences < 3 || isExpected && lines.isEmpty && fences < 10_000 {
      fences += 1
      try client.publish(
        "$JS.API.DIRECT.GET.KV_FW.$KV.FW.abc.0", reply: "\(Deployment.inbox).fence")
      while let line = try client.next() {
        if line.text.contains("\(Deployment.inbox).fence ") { break }
        lines.append(line)
      }
    }
    return lines.map(\.summary).joined(separator: " ")
      .replacing(", \"seq\"", with: ",\"seq\"").replacing(/"seq":[1-9]\d*/, with: #""seq":N"#)
  }

  @Test(arguments: NATSServer.Version.allCases)
  func everyForbiddenOperationIsRefused(_ version: NATSServer.Version) async throws {
    let deployment = try await Deployment(version, folders.make())
    let client = try deployment.raw()
    try client.publish(
      "$KV.STATE.kitchen.forged", Array("a forged entry".utf8), reply: Deployment.reply)
    let second = try RawClient(
      port: deployment.server.port,
      key: try NKey(
        contentsOf: deployment.folder.credentialsPath(site: "kitchen", gateway: "two")))
    try second.subscribe("_INBOX_kitchen.two.>")
    #expect(try second.flush() == [])
    let before = try await deployment.state()
    for operation in ForbiddenOperation.all {
      let client = try deployment.raw()
      let expected = operation.answer(of: version)
      let answer = try Self.answer(to: operation, client, isExpected: !expected.isEmpty)
      #expect(answer == expected, "\(operation.name)")
      if ProcessInfo.processInfo.environment["OTAFLASH_ANSWERS"] != nil {
        print("\(version): \(operation.name): \(answer)\n\(operation.row)")
      }
    }
    #expect(try await deployment.state() == before)
    #expect(try second.flush() == [], "nothing reached the inbox of another gateway")
  }

  /// The document contains the operations of this suite, with their answers.
  @Test func theDocumentHasEveryOperation() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(
      contentsOf: root.appending(path: "docs/sites-security.md"), encoding: .utf8)
    let rows = text.split(separator: "\n").map(String.init)
    for operation in ForbiddenOperation.all {
      #expect(rows.contains(operation.row), "\(operation.row)")
    }
  }

  /// In the account of the coordinator, a reply changes the entry of another site. This is the
  /// reason for an account for each gateway, and shows that the replies above can have an effect.
  @Test(arguments: NATSServer.Version.allCases)
  func repliesAreNotCheckedInOneAccount(_ version: NATSServer.Version) async throws {
    let deployment = try await Deployment(version, folders.make())
    let subjects = ServerConfiguration.subjects(site: "kitchen", gateway: "one")
    let coordinator = NKey()
    let server = try await NATSServer(
      version,
      """
      accounts { SITES { jetstream: enabled, users: [
        { nkey: \(coordinator.publicKey) }
        { nkey: \(deployment.stolen.key.publicKey), permissions: {
          publish: { allow: [ \(subjects.map { "\"\($0)\"" }.joined(separator: ", ")) ] }
          subscribe: { allow: [ "\(Deployment.inbox).>" ] } } }
      ] } }
      """)
    let stream = try JetStream(try await server.connect(key: coordinator))
    try await SiteStreams.create(on: stream)
    let state = try KeyValueBucket(SiteLayout.state, of: stream)
    try await state.put("kitchen.forged", Array("a forged entry".utf8))
    let client = try RawClient(port: server.port, key: deployment.stolen.key)
    try client.publish(
      "$JS.API.DIRECT.GET.KV_STATE.$KV.STATE.kitchen.forged", reply: "$KV.STATE.hall.a")
    _ = try client.flush()
    while try await state.entry("hall.a") == nil {}
    #expect(try await state.entry("hall.a")?.value == Array("a forged entry".utf8))
  }

  /// An acknowledgement names a message by its number, and 2.9.10 does not check that the consumer
  /// has delivered it. The coordinator publishes a lost offer again.
  @Test(arguments: NATSServer.Version.allCases)
  func anAcknowledgementByNumberRemovesAnOffer(_ version: NATSServer.Version) async throws {
    let deployment = try await Deployment(version, folders.make())
    let client = try deployment.raw()
    try client.publish(
      "$JS.ACK.FLASH.kitchen.1.2.1.1700000000000000000.0", Array("+ACK".utf8),
      reply: Deployment.reply)
    let operation = ForbiddenOperation(
      name: "", subject: "$JS.API.DIRECT.GET.KV_RUNS.$KV.RUNS.r1", answer: "")
    _ = try Self.answer(to: operation, client, isExpected: false)
    let offers = try await deployment.coordinator.messages(in: SiteLayout.offers, matching: ">")
    #expect(offers.keys.contains("flash.job.hall.a") == (version != .debian))
    #expect(offers.keys.contains("flash.job.hall.b"))
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aGatewayCanDoItsWork(_ version: NATSServer.Version) async throws {
    let deployment = try await Deployment(version, folders.make())
    let gateway = try await deployment.connect(deployment.stolen)
    let offer = try #require(
      try await gateway.fetch(
        from: SiteLayout.consumer(ofSite: "kitchen"), of: SiteLayout.offers, expiry: .seconds(60)))
    #expect(offer.message.subject == "flash.job.kitchen.a")
    let state = try KeyValueBucket(SiteLayout.state, of: gateway)
    let entry = try #require(try await state.entry("kitchen.a"))
    let claim = try #require(try await state.update("kitchen.a", [2], expecting: entry.revision))
    #expect(try await state.update("kitchen.a", [3], expecting: entry.revision) == nil)
    try await offer.renew()
    try await offer.giveBack()
    let again = try #require(
      try await gateway.fetch(
        from: SiteLayout.consumer(ofSite: "kitchen"), of: SiteLayout.offers, expiry: .seconds(60)))
    try await again.acknowledge()
    #expect(try await state.update("kitchen.a", [3], expecting: claim) != nil)
    #expect(try await KeyValueBucket(SiteLayout.runs, of: gateway).entry("r1")?.value == [1])
    #expect(try await KeyValueBucket(SiteLayout.runs, of: gateway).entry("r2") == nil)
    let images = try KeyValueBucket(SiteLayout.images, of: gateway)
    #expect(try await images.entry("abc.0")?.value == Array("chunk".utf8))
    try await KeyValueBucket(SiteLayout.presence, of: gateway).put("kitchen.one", [1])
    try await KeyValueBucket(SiteLayout.progress, of: gateway).put("kitchen.a", [1])
    #expect(
      try await gateway.fetch(
        from: SiteLayout.consumer(ofSite: "kitchen"), of: SiteLayout.offers,
        expiry: .milliseconds(100)) == nil)
    #expect(try await deployment.coordinator.stream(SiteLayout.offers).content.messages == 2)
  }
}
#endif
