#if Sites
import OtaflashNATS

/// The servers of a deployment, as clients connect to them.
package struct SiteServers: Hashable, Sendable, Codable {
  /// The URLs of the servers, such as `tls://hub.example:4222`.
  package var urls: [String]
  /// The name in the certificates of the servers.
  package var tlsName: String
  /// The path of a file with trusted CA certificates (PEM), on the host of the client; a relative
  /// path is resolved against the folder of the credentials file. `nil` = the certificates of the
  /// system.
  package var trustedCertificates: String?

  package init(urls: [String], tlsName: String, trustedCertificates: String? = nil) {
    self.urls = urls
    self.tlsName = tlsName
    self.trustedCertificates = trustedCertificates
  }
}

/// The content of a credentials file of a gateway or of the coordinator.
package struct GatewayCredentials: Sendable {
  /// The site and the name of a gateway.
  package struct Gateway: Hashable, Sendable {
    package let site: String
    package let name: String

    package init(site: String, name: String) {
      self.site = site
      self.name = name
    }
  }

  package let servers: SiteServers
  /// The gateway; `nil` = the credentials of the coordinator.
  package let gateway: Gateway?
  package let key: NKey
  /// The key that decrypts the keys of devices; `nil` for the coordinator.
  package let boxKey: GatewayPrivateKey?

  init(servers: SiteServers, gateway: Gateway?, key: NKey, boxKey: GatewayPrivateKey?) {
    self.servers = servers
    self.gateway = gateway
    self.key = key
    self.boxKey = boxKey
  }

  /// Returns the options of a connection with these credentials.
  package func options(clientName: String) -> NATSOptions {
    NATSOptions(
      servers: servers.urls, name: clientName,
      tls: .init(
        serverName: servers.tlsName, trustedCertificates: servers.trustedCertificates),
      key: key,
      inboxPrefix: gateway.map { SiteLayout.inbox(site: $0.site, gateway: $0.name) } ?? "_INBOX")
  }
}

extension GatewayCredentials: CustomStringConvertible {
  /// The owner of the credentials. The text omits the keys, so that no message or log contains
  /// them.
  package var description: String {
    gateway.map { "the credentials of gateway \($0.name) at site \($0.site)" }
      ?? "the credentials of the coordinator"
  }
}

// MARK: - The file

/// The reason why credentials or the list of gateways cannot be used or changed.
package enum CredentialsFault: Error, Hashable, Sendable {
  case file(SiteFileFault)
  case absent(path: String)
  case malformed(path: String, line: Int, reason: String)
  /// A name is empty, too long, or contains control characters.
  case invalidName(String)
  case gatewayExists(GatewayCredentials.Gateway)
  case noSuchGateway(GatewayCredentials.Gateway)
  /// The URLs of the servers are not set yet.
  case noServers
}

extension GatewayCredentials {
  /// The keyword of a line. The seed is the first line, because `NKey(contentsOf:)` uses the first
  /// word that starts with `SU`.
  private enum Word: String, CaseIterable {
    case seed = "nkey"
    case boxKey = "box-key"
    case server
    case tlsName = "tls-name"
    case trusted = "tls-ca"
    case site, gateway
  }

  private static let sizeMaximum = 4096

  /// The text of the file, which is secret.
  var secretText: String {
    var lines: [(Word, String)] = [(.seed, key.seed)]
    if let boxKey { lines.append((.boxKey, boxKey.secretText)) }
    lines += servers.urls.map { (.server, $0) }
    lines.append((.tlsName, servers.tlsName))
    if let path = servers.trustedCertificates { lines.append((.trusted, path)) }
    if let gateway { lines += [(.site, gateway.site), (.gateway, gateway.name)] }
    return """
      # Credentials for otaflash. This file is secret: keep its mode 0600.
      # If this file is stolen or lost: otaflash-coordinator credentials revoke

      """ + lines.map { "\($0.rawValue) \($1)\n" }.joined()
  }

  /// Reads a credentials file, which must be readable only by its owner.
  package init(contentsOf path: String) throws(CredentialsFault) {
    let bytes: [UInt8]?
    do throws(SiteFileFault) {
      bytes = try SiteFile.read(path, atMost: Self.sizeMaximum, isSecret: true)
    } catch {
      throw .file(error)
    }
    guard let bytes else { throw .absent(path: path) }
    var values: [Word: [String]] = [:]
    let lines = String(decoding: bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() where !line.isEmpty && !line.hasPrefix("#") {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let word = Word(rawValue: String(parts[0])) else {
        throw .malformed(path: path, line: index + 1, reason: "not 'KEYWORD VALUE'")
      }
      if word != .server, values[word] != nil {
        throw .malformed(path: path, line: index + 1, reason: "a second '\(word.rawValue)'")
      }
      values[word, default: []].append(String(parts[1]))
    }
    func missing(_ word: Word) -> CredentialsFault {
      .malformed(path: path, line: lines.count, reason: "no valid '\(word.rawValue)'")
    }
    guard let key = values[.seed].flatMap({ NKey(seed: $0[0]) }) else { throw missing(.seed) }
    guard let urls = values[.server] else { throw missing(.server) }
    guard let tlsName = values[.tlsName]?[0] else { throw missing(.tlsName) }
    let boxKey = values[.boxKey].flatMap { GatewayPrivateKey($0[0]) }
    var gateway: Gateway?
    if let site = values[.site]?[0] {
      guard let name = values[.gateway]?[0] else { throw missing(.gateway) }
      guard boxKey != nil else { throw missing(.boxKey) }
      gateway = Gateway(site: site, name: name)
    }
    self.init(
      servers: SiteServers(
        urls: urls, tlsName: tlsName,
        trustedCertificates: values[.trusted].map { Self.resolve($0[0], nextTo: path) }),
      gateway: gateway, key: key, boxKey: boxKey)
  }

  private static func resolve(_ path: String, nextTo file: String) -> String {
    guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
    return String(file[...slash]) + path
  }
}

extension CredentialsFault: CustomStringConvertible {
  /// The fault, as a clause.
  package var description: String {
    switch self {
    case .file(let fault): "\(fault)"
    case .absent(let path): "\(path) does not exist"
    case .malformed(let path, let line, let reason): "\(path):\(line): \(reason)"
    case .invalidName(let name):
      "'\(name)' cannot be used as a name: it must have 1 to 64 bytes without control characters, "
        + "and no space at its start or end"
    case .gatewayExists(let gateway):
      "gateway \(gateway.name) at site \(gateway.site) has credentials; revoke them first, or use "
        + "another name"
    case .noSuchGateway(let gateway):
      "site \(gateway.site) has no gateway \(gateway.name)"
    case .noServers: "the URLs of the servers and the name in their certificates are not set yet"
    }
  }
}
#endif
