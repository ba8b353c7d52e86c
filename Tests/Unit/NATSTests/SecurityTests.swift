#if Sites
import Foundation
import OtaflashNATS
import OtaflashNATSServer
import Testing

/// Keys, permissions and certificates, on both versions of the server.
@Suite(.enabled(if: NATSServer.areInstalled, "\(NATSServer.note)")) struct SecurityTests {
  /// A server with a user for the coordinator, and a user for the site "kitchen" with the
  /// permissions that a gateway needs.
  struct Hub {
    let server: NATSServer
    let coordinator = NKey()
    let kitchen = NKey()

    init(_ version: NATSServer.Version) async throws {
      server = try await NATSServer(
        version,
        """
        accounts { SITES { jetstream: enabled, users: [
          { nkey: \(coordinator.publicKey) }
          { nkey: \(kitchen.publicKey), permissions: {
              publish: { allow: [
                "$JS.API.CONSUMER.MSG.NEXT.FLASH.kitchen", "$JS.API.CONSUMER.INFO.FLASH.kitchen",
                "$JS.ACK.FLASH.kitchen.>", "$JS.API.DIRECT.GET.KV_STATE.$KV.STATE.kitchen.>",
                "$KV.STATE.kitchen.>", "$JS.API.DIRECT.GET.KV_FW.>", "flash.progress.kitchen.>" ] }
              subscribe: { allow: "_INBOX_kitchen.>" } } }
        ] } }
        """)
    }

    /// Creates the streams and entries of two sites. Returns the connections of the coordinator and
    /// of the gateway.
    func prepare() async throws -> (coordinator: JetStream, gateway: JetStream) {
      let coordinator = try JetStream(try await server.connect(key: coordinator))
      try await coordinator.createStream(JetStreamTests.jobs)
      for site in ["kitchen", "hall"] {
        try await coordinator.createConsumer(
          ConsumerConfiguration(name: site, filter: "flash.job.\(site).>"), of: "FLASH")
        _ = try await coordinator.publish(JetStreamTests.job("a", site: site))
      }
      let state = try await KeyValueBucket(KeyValueConfiguration(bucket: "STATE"), of: coordinator)
      try await state.put("kitchen.a", [1])
      try await state.put("hall.a", [1])
      let images = try await KeyValueBucket(KeyValueConfiguration(bucket: "FW"), of: coordinator)
      try await images.put("abc", [2])
      let gateway = try JetStream(
        try await server.connect(key: kitchen, inboxPrefix: "_INBOX_kitchen"))
      return (coordinator, gateway)
    }
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aGatewayCanDoItsWork(_ version: NATSServer.Version) async throws {
    let hub = try await Hub(version)
    let (coordinator, gateway) = try await hub.prepare()
    let job = try #require(try await JetStreamTests.fetch(gateway))
    #expect(job.message.subject == "flash.job.kitchen.a")
    let state = try KeyValueBucket("STATE", of: gateway)
    let entry = try #require(try await state.entry("kitchen.a"))
    let claim = try #require(try await state.update("kitchen.a", [2], expecting: entry.revision))
    try await job.renew()
    #expect(try await KeyValueBucket("FW", of: gateway).entry("abc")?.value == [2])
    #expect(try await state.update("kitchen.a", [3], expecting: claim) != nil)
    try await job.acknowledge()
    #expect(try await coordinator.stream("FLASH").content.messages == 1)
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aStolenGatewayReachesNoOtherSite(_ version: NATSServer.Version) async throws {
    let hub = try await Hub(version)
    let (coordinator, gateway) = try await hub.prepare()
    let before = try await coordinator.stream("FLASH")
    func isForbidden(_ subject: String, _ body: () async throws -> Void) async {
      await #expect(throws: NATSFault.notPermitted(subject)) { try await body() }
    }
    let state = try KeyValueBucket("STATE", of: gateway)
    await isForbidden("$JS.API.CONSUMER.MSG.NEXT.FLASH.hall") {
      _ = try await gateway.fetch(from: "hall", of: "FLASH", expiry: JetStreamTests.ample)
    }
    await isForbidden("flash.job.kitchen.b") {
      _ = try await gateway.publish(JetStreamTests.job("b"))
    }
    await isForbidden("$JS.API.DIRECT.GET.KV_STATE.$KV.STATE.hall.a") {
      _ = try await state.entry("hall.a")
    }
    await isForbidden("$KV.STATE.hall.a") { _ = try await state.put("hall.a", [9]) }
    await isForbidden("$KV.STATE.hall.a") { _ = try await state.delete("hall.a") }
    await isForbidden("$KV.FW.abc") {
      _ = try await KeyValueBucket("FW", of: gateway).put("abc", [9])
    }
    await isForbidden("$JS.API.STREAM.DELETE.FLASH") { try await gateway.deleteStream("FLASH") }
    await isForbidden("$JS.API.STREAM.MSG.GET.FLASH") {
      _ = try await gateway.lastMessage(in: "FLASH", of: "flash.job.hall.a")
    }
    await isForbidden("$JS.API.STREAM.MSG.DELETE.FLASH") {
      _ = try await gateway.deleteMessage(in: "FLASH", sequence: 2)
    }
    await isForbidden("$JS.API.CONSUMER.DURABLE.CREATE.FLASH.thief") {
      try await gateway.createConsumer(
        ConsumerConfiguration(name: "thief", filter: "flash.job.hall.>"), of: "FLASH")
    }
    #expect(try await coordinator.stream("FLASH").content == before.content)
    // The connection remains usable.
    #expect(try await state.entry("kitchen.a")?.value == [1])
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aForeignInboxIsRefused(_ version: NATSServer.Version) async throws {
    let hub = try await Hub(version)
    let fault = await #expect(throws: NATSFault.self) {
      _ = try await hub.server.connect(key: hub.kitchen, inboxPrefix: "_INBOX")
    }
    guard case .notPermitted = fault else { throw fault ?? .closed }
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aWrongKeyIsRefused(_ version: NATSServer.Version) async throws {
    let hub = try await Hub(version)
    for key in [NKey(), nil] {
      let fault = await #expect(throws: NATSFault.self) {
        _ = try await hub.server.connect(key: key)
      }
      guard case .authenticationRefused = fault else { throw fault ?? .closed }
    }
  }

  /// libnats before 3.8 omits a signature whose first byte is zero: 1 of 256.
  @Test(arguments: NATSServer.Version.allCases)
  func noChallengeIsTooHardForAKey(_ version: NATSServer.Version) async throws {
    let hub = try await Hub(version)
    for _ in 0..<1000 { await (try await hub.server.connect(key: hub.coordinator)).close() }
  }

  /// libnats closes the connection after the server has refused the key twice. A later call
  /// connects again.
  @Test(arguments: NATSServer.Version.allCases)
  func aRefusedConnectionCanReturn(_ version: NATSServer.Version) async throws {
    let key = NKey()
    func users(_ key: NKey) -> String { "authorization { users: [ { nkey: \(key.publicKey) } ] }" }
    let server = try await NATSServer(version, "include \"users.conf\"", ["users.conf": users(key)])
    let connection = try await server.connect(callLimit: .seconds(2), key: key)
    let stream = try JetStream(connection)
    try await stream.createStream(JetStreamTests.jobs)
    server.kill()
    try server.write("users.conf", users(NKey()))
    try await server.start()
    while true {
      do { _ = try await stream.stream("FLASH") } catch {
        if case .authenticationRefused = error { break }
      }
    }
    server.kill()
    try server.write("users.conf", users(key))
    try await server.start()
    #expect(try await stream.stream("FLASH").configuration.name == "FLASH")
  }

  @Test func onlyItsOwnerMayReadAKey() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "key-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { remove(folder) }
    let key = NKey()
    let path = folder.appending(path: "kitchen.creds").path
    let text = "-----BEGIN USER NKEY SEED-----\n\(key.seed)\n------END USER NKEY SEED------\n"
    try Data(text.utf8).write(to: URL(filePath: path))
    for mode in [0o640, 0o604, 0o660] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      #expect(throws: NATSFault.self) { try NKey(contentsOf: path) }
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(try NKey(contentsOf: path).publicKey == key.publicKey)
    try Data("nothing".utf8).write(to: URL(filePath: path))
    #expect(throws: NATSFault.self) { try NKey(contentsOf: path) }
    #expect(throws: NATSFault.self) { try NKey(contentsOf: folder.path) }
    #expect(throws: NATSFault.self) { try NKey(contentsOf: path + ".absent") }
  }

  @Test func aSeedWithAnErrorIsNotDecoded() throws {
    let seed = NKey().seed
    #expect(seed.hasPrefix("SU") && seed.count == 58)
    #expect(NKey(seed: seed)?.seed == seed)
    for index in seed.indices {
      var changed = Array(seed)
      let place = seed.distance(from: seed.startIndex, to: index)
      changed[place] = changed[place] == "A" ? "B" : "A"
      // The last character has two bits that do not count.
      #expect(NKey(seed: String(changed)) == nil || place == 57)
    }
    #expect(NKey(seed: "") == nil && NKey(seed: "SU") == nil && NKey(seed: "su1") == nil)
  }

  func remove(_ folder: URL) {
    do { try FileManager.default.removeItem(at: folder) } catch { print("it stays: \(error)") }
  }

  // MARK: - TLS

  @Test(arguments: NATSServer.Version.allCases)
  func theServersNameIsVerified(_ version: NATSServer.Version) async throws {
    let certificates = try Certificates()
    defer { remove(certificates.folder) }
    let server = try await NATSServer(
      version,
      """
      tls { cert_file: "\(certificates.path("hub.pem"))", key_file: "\(certificates.path("hub.key"))" }
      """)
    func connect(_ tls: NATSOptions.TLS?) async throws -> NATSConnection {
      var options = server.options()
      options.tls = tls
      return try await NATSConnection(options, clock: ContinuousClock())
    }
    let trusted = certificates.path("ca.pem")
    for name in ["localhost", "hub.test"] {
      let connection = try await connect(.init(serverName: name, trustedCertificates: trusted))
      #expect(connection.isConnected)
      try await JetStream(connection).ensureStream(JetStreamTests.jobs)
      await connection.close()
    }
    let wrong: [NATSOptions.TLS?] = [
      .init(serverName: "hub.example", trustedCertificates: trusted),
      .init(serverName: "hub", trustedCertificates: trusted),
      .init(serverName: "localhost", trustedCertificates: certificates.path("other.pem")),
      .init(serverName: "localhost"), nil,
    ]
    for tls in wrong {
      let fault = await #expect(throws: NATSFault.self) { _ = try await connect(tls) }
      guard case .untrusted = fault else { throw fault ?? .closed }
    }
    let plain = try await NATSServer(version)
    var options = plain.options()
    options.tls = .init(serverName: "localhost", trustedCertificates: trusted)
    let fault = await #expect(throws: NATSFault.self) {
      _ = try await NATSConnection(options, clock: ContinuousClock())
    }
    guard case .untrusted = fault else { throw fault ?? .closed }
  }
}
#endif
