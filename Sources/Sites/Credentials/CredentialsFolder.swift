#if Sites
import OtaflashNATS

/// The folder in which the coordinator's host stores the list of gateways and the generated
/// configuration. The only private key that stays in the folder is the key of the coordinator,
/// because the credentials file of a gateway is moved to the gateway.
package struct CredentialsFolder: Sendable {
  package let path: String

  package init(path: String) { self.path = path.hasSuffix("/") ? String(path.dropLast()) : path }

  /// The path of the list of gateways.
  package var registryPath: String { "\(path)/gateways.json" }
  /// The path of the generated accounts, which the servers include.
  package var accountsPath: String { "\(path)/accounts.conf" }
  /// The path of the coordinator's credentials file.
  package var coordinatorPath: String { "\(path)/coordinator.creds" }

  /// Returns the path of a gateway's credentials file before the file is moved. No two gateways
  /// have the same path, because tokens contain no dot.
  package func credentialsPath(site: String, gateway: String) -> String {
    "\(path)/\(SubjectToken(site)).\(SubjectToken(gateway)).creds"
  }

  package func registry() throws(CredentialsFault) -> GatewayRegistry {
    try GatewayRegistry(contentsOf: registryPath)
  }

  /// Sets the servers for the credentials files that are generated later.
  package func setServers(_ servers: SiteServers) throws(CredentialsFault) {
    try change { (registry) throws(CredentialsFault) in registry.servers = servers }
  }

  /// Generates the credentials of the coordinator, and returns the path of the file. Existing
  /// credentials are replaced; they are no longer valid after the servers have reloaded the
  /// accounts.
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

  /// Generates the credentials of a gateway, and returns the path of the new file, which has mode
  /// 0600.
  ///
  /// - Throws: `.gatewayExists`, `.invalidName`, `.noServers`, `.malformed` or `.file`.
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
      // The file with the private key is written before the list: a public key without a
      // credentials file is useless.
      try Self.onDisk { () throws(SiteFileFault) in
        try SiteFile.createSecret(path, Array(credentials.secretText.utf8))
      }
    }
    return path
  }

  /// Revokes the credentials of a gateway. The servers disconnect the gateway when they reload the
  /// accounts.
  ///
  /// - Throws: `.noSuchGateway`, `.malformed` or `.file`.
  package func revoke(_ gateway: GatewayCredentials.Gateway) throws(CredentialsFault) {
    try change { (registry) throws(CredentialsFault) in try registry.remove(gateway) }
  }

  /// Changes the list under the lock of the folder, and generates the accounts again. The accounts
  /// are written last: if the process ends before this write, the next change generates them.
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
