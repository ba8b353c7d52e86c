#if Sites
import OtaflashNATS

/// The folder in which the coordinator's host stores the list of gateways and the generated
/// configuration. Of the private keys, it stores only that of the coordinator: the credentials file
/// of a gateway is moved to the gateway.
package struct CredentialsFolder: Sendable {
  package let path: String

  package init(path: String) { self.path = path.hasSuffix("/") ? String(path.dropLast()) : path }

  /// The list of gateways.
  package var registryPath: String { "\(path)/gateways.json" }
  /// The generated accounts, which the servers include.
  package var accountsPath: String { "\(path)/accounts.conf" }
  /// The credentials of the coordinator.
  package var coordinatorPath: String { "\(path)/coordinator.creds" }

  /// The credentials file of a gateway, before it is moved. A site and gateway have one file, since
  /// tokens contain no dot.
  package func credentialsPath(site: String, gateway: String) -> String {
    "\(path)/\(SubjectToken(site)).\(SubjectToken(gateway)).creds"
  }

  package func registry() throws(CredentialsFault) -> GatewayRegistry {
    try GatewayRegistry(contentsOf: registryPath)
  }

  /// Sets the servers of later credentials files.
  package func setServers(_ servers: SiteServers) throws(CredentialsFault) {
    try change { (registry) throws(CredentialsFault) in registry.servers = servers }
  }

  /// Generates the credentials of the coordinator, and returns their path. Existing ones are
  /// replaced, and no longer valid, after the servers have reloaded the accounts.
  package func issueCoordinator() throws(CredentialsFault) -> String {
    try change { (registry) throws(CredentialsFault) in
      guard let servers = registry.servers else { throw .noServers }
      let credentials = GatewayCredentials(
        servers: servers, gateway: nil, key: NKey(), boxKey: nil)
      registry.coordinator = credentials.key.publicKey
      try Self.onDisk { () throws(SiteFileFault) in
        try SiteFile.replace(
          coordinatorPath, with: Array(credentials.secretText.utf8), mode: 0o600)
      }
    }
    return coordinatorPath
  }

  /// Generates the credentials of a gateway, and returns the path of the new file, with mode 0600.
  ///
  /// - Throws: `.gatewayExists`, `.invalidName`, `.noServers` or `.file`.
  package func issue(site: String, gateway: String) throws(CredentialsFault) -> String {
    let path = credentialsPath(site: site, gateway: gateway)
    try change { (registry) throws(CredentialsFault) in
      guard let servers = registry.servers else { throw .noServers }
      let boxKey = GatewayPrivateKey()
      let credentials = GatewayCredentials(
        servers: servers, gateway: .init(site: site, name: gateway), key: NKey(), boxKey: boxKey)
      try registry.add(
        .init(
          site: site, name: gateway, nkey: credentials.key.publicKey, boxKey: boxKey.publicKey))
      // The secret first: a key that no file contains would be of no use.
      try Self.onDisk { () throws(SiteFileFault) in
        try SiteFile.createSecret(path, Array(credentials.secretText.utf8))
      }
    }
    return path
  }

  /// Revokes the credentials of a gateway. The servers disconnect it when they reload the accounts.
  ///
  /// - Throws: `.noSuchGateway` or `.file`.
  package func revoke(_ gateway: GatewayCredentials.Gateway) throws(CredentialsFault) {
    try change { (registry) throws(CredentialsFault) in try registry.remove(gateway) }
  }

  /// Changes the list while no other process does, and generates the accounts again. The accounts
  /// are written last: if the process ends before, the next change completes them.
  private func change(
    _ body: (inout GatewayRegistry) throws(CredentialsFault) -> Void
  ) throws(CredentialsFault) {
    let lock = try Self.onDisk { () throws(SiteFileFault) in try FolderLock(path) }
    var registry = try registry()
    try body(&registry)
    try registry.write(to: registryPath)
    try Self.onDisk { () throws(SiteFileFault) in
      try SiteFile.replace(
        accountsPath, with: Array(ServerConfiguration.accounts(of: registry).utf8))
    }
    lock.release()
  }

  private static func onDisk<Value: ~Copyable>(
    _ body: () throws(SiteFileFault) -> Value
  ) throws(CredentialsFault) -> Value {
    do throws(SiteFileFault) { return try body() } catch { throw .file(error) }
  }
}
#endif
