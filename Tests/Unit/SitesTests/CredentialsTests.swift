#if Sites
import Foundation
import OtaflashNATS
import OtaflashSites
import Testing

/// Credentials files, the list of gateways, and the generated configuration.
@Suite struct CredentialsTests {
  static let servers = SiteServers(
    urls: ["tls://hub.example:4222", "tls://hub2.example:4222"], tlsName: "hub.example",
    trustedCertificates: "ca.pem")

  let folders = TemporaryFolders()

  static func folder(_ files: TemporaryFolders.Folder) throws -> CredentialsFolder {
    try FileManager.default.createDirectory(at: files.url, withIntermediateDirectories: true)
    let folder = CredentialsFolder(path: files.path)
    try folder.setServers(servers)
    return folder
  }

  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? NSNumber).intValue
  }

  @Test func aGatewayReceivesAFileThatItsOwnerMayRead() throws {
    let files = folders.make()
    let folder = try Self.folder(files)
    let path = try folder.issue(site: "SUITE 1", gateway: "SU-pi")
    #expect(path.hasSuffix("/SUITE=201.SU-pi.creds"))
    #expect(try mode(path) == 0o600)
    let credentials = try GatewayCredentials(contentsOf: path)
    #expect(credentials.gateway == .init(site: "SUITE 1", name: "SU-pi"))
    #expect(credentials.servers.urls == Self.servers.urls)
    #expect(credentials.servers.trustedCertificates == "\(files.path)/ca.pem")
    let gateway = try #require(try folder.registry().gateways.first)
    #expect(gateway.nkey == credentials.key.publicKey)
    #expect(gateway.boxKey == credentials.boxKey?.publicKey)
    // Names that start like a seed are not read as the seed.
    #expect(try NKey(contentsOf: path).publicKey == gateway.nkey)
    let options = credentials.options(clientName: "test")
    #expect(options.inboxPrefix == "_INBOX_SUITE=201.SU-pi")
    #expect(options.tls?.serverName == "hub.example" && options.servers == Self.servers.urls)
    #expect(!"\(credentials)".contains(credentials.key.seed))
    for mode in [0o640, 0o604, 0o644] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      let fault = #expect(throws: CredentialsFault.self) {
        try GatewayCredentials(contentsOf: path)
      }
      #expect("\(try #require(fault))".contains("0600"))
    }
  }

  @Test func theListAndTheConfigurationContainNoSecret() throws {
    let files = folders.make()
    let folder = try Self.folder(files)
    let path = try folder.issue(site: "kitchen", gateway: "pi")
    let coordinator = try folder.issueCoordinator()
    let secrets = try [path, coordinator].flatMap { path in
      let credentials = try GatewayCredentials(contentsOf: path)
      return [credentials.key.seed] + (credentials.boxKey.map { [$0.secretText] } ?? [])
    }
    #expect(secrets.count == 3)
    for path in [folder.registryPath, folder.accountsPath] {
      let text = try String(contentsOfFile: path, encoding: .utf8)
      #expect(secrets.allSatisfy { !text.contains($0) })
    }
    #expect(try mode(coordinator) == 0o600)
    #expect(try GatewayCredentials(contentsOf: coordinator).gateway == nil)
    // No other files remain.
    #expect(
      try files.files
        == ["accounts.conf", "coordinator.creds", "gateways.json", "kitchen.pi.creds"])
  }

  @Test func aGatewayHasOneKey() throws {
    let folder = try Self.folder(folders.make())
    let path = try folder.issue(site: "kitchen", gateway: "pi")
    let first = try folder.registry()
    #expect(throws: CredentialsFault.gatewayExists(.init(site: "kitchen", name: "pi"))) {
      try folder.issue(site: "kitchen", gateway: "pi")
    }
    try folder.revoke(.init(site: "kitchen", name: "pi"))
    #expect(try folder.registry().gateways == [])
    #expect(throws: CredentialsFault.noSuchGateway(.init(site: "kitchen", name: "pi"))) {
      try folder.revoke(.init(site: "kitchen", name: "pi"))
    }
    // The file of the revoked key is not overwritten.
    #expect(throws: CredentialsFault.self) { try folder.issue(site: "kitchen", gateway: "pi") }
    #expect(try folder.registry().gateways == [])
    try FileManager.default.removeItem(atPath: path)
    _ = try folder.issue(site: "kitchen", gateway: "pi")
    #expect(try folder.registry().gateways.map(\.nkey) != first.gateways.map(\.nkey))
    #expect(try folder.registry().boxKeys(ofSite: "kitchen").count == 1)
    #expect(try folder.registry().sites == ["kitchen"])
  }

  @Test(arguments: [
    "", " a", "a ", "a\nnkey SUAA", "a\u{7F}", "a\0", String(repeating: "a", count: 65),
  ])
  func aNameThatCouldBeAnotherLineIsRefused(_ name: String) throws {
    let folder = try Self.folder(folders.make())
    #expect(throws: CredentialsFault.invalidName(name)) {
      try folder.issue(site: name, gateway: "pi")
    }
    #expect(throws: CredentialsFault.invalidName(name)) {
      try folder.issue(site: "kitchen", gateway: name)
    }
  }

  /// Several commands at the same time: each gateway is in the list, or its command failed.
  @Test func concurrentChangesLoseNoGateway() async throws {
    let folder = try Self.folder(folders.make())
    let issued = await withTaskGroup(of: String?.self) { group in
      for number in 0..<16 {
        group.addTask {
          do throws(CredentialsFault) {
            _ = try folder.issue(site: "kitchen", gateway: "g\(number)")
            return "g\(number)"
          } catch {
            #expect("\(error)".contains("another process"))
            return nil
          }
        }
      }
      return await group.reduce(into: Set<String>()) { names, name in
        if let name { names.insert(name) }
      }
    }
    #expect(!issued.isEmpty)
    #expect(Set(try folder.registry().gateways.map(\.name)) == issued)
  }

  @Test func serversAreNeeded() throws {
    let files = folders.make()
    try FileManager.default.createDirectory(at: files.url, withIntermediateDirectories: true)
    let folder = CredentialsFolder(path: files.path)
    #expect(throws: CredentialsFault.noServers) { try folder.issue(site: "a", gateway: "b") }
    #expect(throws: CredentialsFault.noServers) { try folder.issueCoordinator() }
  }

  @Test func aChangedFileIsReportedWithItsLine() throws {
    let files = folders.make()
    let folder = try Self.folder(files)
    let path = try folder.issue(site: "kitchen", gateway: "pi")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let seed = try #require(text.firstMatch(of: /nkey (\S+)/)?.1)
    func fault(_ changed: String) throws -> CredentialsFault {
      try Data(changed.utf8).write(to: files.file("kitchen.pi.creds"))
      return try #require(
        #expect(throws: CredentialsFault.self) { try GatewayCredentials(contentsOf: path) })
    }
    for change in ["colour blue\n", "site\n", "site hall\n", "nkey \(seed)\n"] {
      guard case .malformed(_, let line, _) = try fault(text + change) else {
        throw try fault(text + change)
      }
      #expect(line == text.count { $0 == "\n" } + 1)
    }
    for word in ["nkey", "box-key", "server", "tls-name", "gateway"] {
      let lines = text.split(separator: "\n").filter { !$0.hasPrefix(word + " ") }
      guard case .malformed(_, _, "no valid '\(word)'") = try fault(lines.joined(separator: "\n"))
      else { throw try fault(lines.joined(separator: "\n")) }
    }
    #expect("\(try fault(text.replacing(seed, with: "SUAAAA")))".contains("nkey"))
    #expect(throws: CredentialsFault.absent(path: path + ".no")) {
      try GatewayCredentials(contentsOf: path + ".no")
    }
  }

  @Test(arguments: ["", "[]", #"{"version":2,"gateways":[]}"#, #"{"version":1}"#])
  func aDamagedListIsRefused(_ text: String) throws {
    let files = folders.make()
    let folder = try Self.folder(files)
    try Data(text.utf8).write(to: files.file("gateways.json"))
    #expect(throws: CredentialsFault.self) { try folder.registry() }
    #expect(throws: CredentialsFault.self) { try folder.issue(site: "a", gateway: "b") }
  }

  /// The files, inboxes and permitted subjects of two gateways are always different.
  @Test func differentGatewaysShareNothing() throws {
    let folder = try Self.folder(folders.make())
    let names = [
      ("a_b", "c"), ("a", "b_c"), ("a.b", "c"), ("a", "b.c"), ("a=2Eb", "c"), ("a", "b"),
    ]
    let paths = try names.map { try folder.issue(site: $0.0, gateway: $0.1) }
    #expect(Set(paths).count == names.count)
    let inboxes = names.map { SiteLayout.inbox(site: $0.0, gateway: $0.1) + "." }
    for first in inboxes.indices {
      for second in inboxes.indices where first != second {
        #expect(!inboxes[first].hasPrefix(inboxes[second]))
      }
    }
    let subjects = names.map { Set(ServerConfiguration.subjects(site: $0.0, gateway: $0.1)) }
    #expect(Set(subjects).count == names.count)
  }
}
#endif
