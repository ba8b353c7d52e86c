#if Sites
import FoundationEssentials

/// The gateways of a deployment and their public keys. The file contains no secret; the
/// configuration of the servers is generated from this file.
package struct GatewayRegistry: Hashable, Sendable {
  /// A gateway with credentials.
  package struct Gateway: Hashable, Sendable, Codable {
    package let site: String
    package let name: String
    /// The public NKey for the connections of the gateway.
    package let nkey: String
    /// The public key with which the keys of devices are encrypted.
    package let boxKey: GatewayPublicKey

    package init(site: String, name: String, nkey: String, boxKey: GatewayPublicKey) {
      self.site = site
      self.name = name
      self.nkey = nkey
      self.boxKey = boxKey
    }
  }

  private static let version = 1
  private static let sizeMaximum = 16 << 20
  private static let nameMaximum = 64

  package var servers: SiteServers?
  /// The public NKey of the coordinator.
  package var coordinator: String?
  /// The gateways, sorted by site and name.
  package private(set) var gateways: [Gateway] = []

  package init() {}

  /// All sites, sorted.
  package var sites: [String] { Set(gateways.map(\.site)).sorted() }

  /// Returns the public keys with which a device key is encrypted for the gateways of a site.
  package func boxKeys(ofSite site: String) -> [GatewayPublicKey] {
    gateways.filter { $0.site == site }.map(\.boxKey)
  }

  /// Adds a gateway.
  ///
  /// - Throws: `.gatewayExists` or `.invalidName`.
  package mutating func add(_ gateway: Gateway) throws(CredentialsFault) {
    try Self.check(gateway.site)
    try Self.check(gateway.name)
    guard !gateways.contains(where: { $0.site == gateway.site && $0.name == gateway.name }) else {
      throw .gatewayExists(.init(site: gateway.site, name: gateway.name))
    }
    gateways.append(gateway)
    gateways.sort { ($0.site, $0.name) < ($1.site, $1.name) }
  }

  /// Removes a gateway.
  ///
  /// - Throws: `.noSuchGateway`.
  package mutating func remove(_ gateway: GatewayCredentials.Gateway) throws(CredentialsFault) {
    let index = gateways.firstIndex { $0.site == gateway.site && $0.name == gateway.name }
    guard let index else { throw .noSuchGateway(gateway) }
    gateways.remove(at: index)
  }

  /// Throws `.invalidName` unless the name can be a value in a credentials file and a part of a
  /// subject.
  static func check(_ name: String) throws(CredentialsFault) {
    guard (1...nameMaximum).contains(name.utf8.count),
      name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }),
      name.first != " ", name.last != " "
    else { throw .invalidName(name) }
  }

  // MARK: The file

  private struct File: Codable {
    var version: Int
    var servers: SiteServers?
    var coordinator: String?
    var gateways: [Gateway]
  }

  /// Reads the list from a file; if the file does not exist, the list is empty.
  package init(contentsOf path: String) throws(CredentialsFault) {
    let bytes: [UInt8]?
    do throws(SiteFileFault) {
      bytes = try SiteFile.read(path, atMost: Self.sizeMaximum)
    } catch {
      throw .file(error)
    }
    guard let bytes else { return }
    let file: File
    do { file = try JSONDecoder().decode(File.self, from: Data(bytes)) } catch {
      throw .malformed(path: path, line: 1, reason: "not a list of gateways")
    }
    guard file.version == Self.version else {
      throw .malformed(path: path, line: 1, reason: "written by a newer version of otaflash")
    }
    servers = file.servers
    coordinator = file.coordinator
    for gateway in file.gateways { try add(gateway) }
  }

  package func write(to path: String) throws(CredentialsFault) {
    let file = File(
      version: Self.version, servers: servers, coordinator: coordinator, gateways: gateways)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let bytes: [UInt8]
    do { bytes = Array(try encoder.encode(file)) + [UInt8(ascii: "\n")] } catch {
      preconditionFailure("a list of gateways cannot be encoded: \(error)")
    }
    do throws(SiteFileFault) { try SiteFile.replace(path, with: bytes) } catch {
      throw .file(error)
    }
  }
}
#endif
