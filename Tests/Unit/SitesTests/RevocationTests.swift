#if Sites
import Foundation
import OtaflashNATS
import OtaflashNATSServer
import OtaflashSites
import Testing

/// Keys and certificates that the server or the client refuses.
@Suite(.enabled(if: NATSServer.areInstalled, "\(NATSServer.note)")) struct RevocationTests {
  let folders = TemporaryFolders()

  @Test(arguments: NATSServer.Version.allCases)
  func anUnknownKeyIsRefused(_ version: NATSServer.Version) async throws {
    let deployment = try await Deployment(version, folders.make())
    for key in [NKey(), nil] {
      let lines = try RawClient(port: deployment.server.port, key: key).flush()
      #expect(lines.map(\.text) == ["-ERR 'Authorization Violation'"])
    }
  }

  /// A reload disconnects the gateway, and no other one.
  @Test(arguments: NATSServer.Version.allCases)
  func aRevokedKeyIsRefused(_ version: NATSServer.Version) async throws {
    let deployment = try await Deployment(version, folders.make())
    let client = try deployment.raw()
    let other = try await deployment.connect(
      try GatewayCredentials(
        contentsOf: deployment.folder.credentialsPath(site: "kitchen", gateway: "two")))
    let state = try KeyValueBucket(SiteLayout.state, of: other)
    #expect(try await state.entry("kitchen.a") != nil)
    try deployment.folder.revoke(.init(site: "kitchen", name: "one"))
    try deployment.server.write("accounts.conf", try Deployment.accounts(deployment.folder))
    deployment.server.reload()
    // Both servers close the connection without a message.
    while let line = try client.next() { Issue.record("\(line.text)") }
    let lines = try deployment.raw().flush()
    #expect(lines.map(\.text) == ["-ERR 'Authorization Violation'"])
    // The streams and the other gateways are not affected.
    #expect(try await state.entry("kitchen.a") != nil)
    #expect(try await deployment.coordinator.stream(SiteLayout.offers).content.messages == 3)
    // A new gateway is added in the same way.
    let path = try deployment.folder.issue(site: "cellar", gateway: "pi")
    try deployment.server.write("accounts.conf", try Deployment.accounts(deployment.folder))
    deployment.server.reload()
    let key = try NKey(contentsOf: path)
    while try RawClient(port: deployment.server.port, key: key).flush().map(\.text) != [] {}
  }

  /// A stolen gateway cannot use up the connections of the server.
  @Test(arguments: NATSServer.Version.allCases)
  func theConnectionsOfAGatewayAreLimited(_ version: NATSServer.Version) async throws {
    let deployment = try await Deployment(version, folders.make())
    let clients = try (0..<ServerConfiguration.connectionsMaximum).map { _ in
      try deployment.raw()
    }
    for client in clients { #expect(try client.flush() == []) }
    let lines = try withExtendedLifetime(clients) { try deployment.raw().flush() }
    #expect(lines.map(\.text) == ["-ERR 'maximum account active connections exceeded'"])
    let other = try await deployment.connect(
      try GatewayCredentials(
        contentsOf: deployment.folder.credentialsPath(site: "hall", gateway: "one")))
    #expect(try await KeyValueBucket(SiteLayout.state, of: other).entry("hall.a") != nil)
  }

  // MARK: - TLS

  /// A client with the key of a gateway connects only to a server with the name and the authority
  /// of its credentials file.
  @Test(arguments: NATSServer.Version.allCases)
  func aWrongServerIsRefused(_ version: NATSServer.Version) async throws {
    let certificates = try Certificates()
    defer { remove(certificates.folder) }
    let files = folders.make()
    let folder = try CredentialsTests.folder(files)
    let path = try folder.issue(site: "kitchen", gateway: "one")
    for name in ["ca.pem", "other.pem"] {
      try FileManager.default.copyItem(
        atPath: certificates.path(name), toPath: files.file(name).path)
    }
    let server = try await NATSServer(
      version,
      """
      tls { cert_file: "\(certificates.path("hub.pem"))", key_file: "\(certificates.path("hub.key"))" }
      include "accounts.conf"
      """, ["accounts.conf": try Deployment.accounts(folder)])
    func connect(_ name: String, _ authority: String?) async throws -> NATSConnection {
      var lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        .filter { !$0.hasPrefix("server ") && !$0.hasPrefix("tls-") }
      lines.append("server \(server.url.replacing("nats://", with: "tls://"))")
      lines.append("tls-name \(name)")
      if let authority { lines.append("tls-ca \(authority)") }
      try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
      let options = try GatewayCredentials(contentsOf: path).options(clientName: "test")
      return try await NATSConnection(options, clock: ContinuousClock())
    }
    let connection = try await connect("localhost", "ca.pem")
    #expect(connection.isConnected)
    await connection.close()
    let wrong = [
      ("wrong name", "hub.example", "ca.pem"), ("wrong authority", "localhost", "other.pem"),
      ("the system's authorities", "localhost", nil),
    ]
    for (operation, name, authority) in wrong {
      let fault = await #expect(throws: NATSFault.self) { _ = try await connect(name, authority) }
      guard case .untrusted(let text) = fault else { throw fault ?? .closed }
      Self.report(version, operation, text)
    }
    // The server expects a handshake, and closes the connection without a message.
    let plain = try RawClient(port: server.port, key: try NKey(contentsOf: path))
    #expect(try plain.flush() == [])
    #expect(try plain.next() == nil)
  }

  private static func report(_ version: NATSServer.Version, _ operation: String, _ text: String) {
    guard ProcessInfo.processInfo.environment["OTAFLASH_ANSWERS"] != nil else { return }
    print("\(version) | \(operation) | \(text)")
  }

  private func remove(_ folder: URL) {
    do { try FileManager.default.removeItem(at: folder) } catch { print("it stays: \(error)") }
  }

  /// Both versions of the server accept the generated files, with names that must be quoted. Only
  /// the newer version accepts `sync_interval`.
  @Test(arguments: NATSServer.Version.allCases)
  func theGeneratedConfigurationIsAccepted(_ version: NATSServer.Version) async throws {
    let certificates = try Certificates()
    defer { remove(certificates.folder) }
    let files = folders.make()
    let folder = try CredentialsTests.folder(files)
    for site in ["kitchen", "Küche 2", "a.b \"c\" {", "# $x", "7"] {
      _ = try folder.issue(site: site, gateway: site)
    }
    _ = try folder.issueCoordinator()
    for setting in ["", "sync_interval: always"] {
      let path = files.file("server.conf").path
      let text = """
        listen: "0.0.0.0:4222"
        jetstream {
          store_dir: "\(files.file("store").path)"
          \(setting)
        }
        tls {
          cert_file: "\(certificates.path("hub.pem"))"
          key_file: "\(certificates.path("hub.key"))"
        }
        include "accounts.conf"

        """
      try Data(text.utf8).write(to: URL(filePath: path))
      let (isAccepted, log) = try NATSServer.check(path, by: version)
      #expect(isAccepted == (setting.isEmpty || version != .debian), "\(log)")
    }
  }
}
#endif
