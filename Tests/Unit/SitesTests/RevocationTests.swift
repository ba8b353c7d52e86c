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
}
#endif
