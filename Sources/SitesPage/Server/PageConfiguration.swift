#if Sites
/// The configuration of the server of the page.
package struct PageConfiguration: Sendable {
  /// The certificate chain and private key of the server, as paths of PEM files.
  package struct TLSFiles: Hashable, Sendable {
    package var certificates: String
    package var privateKey: String

    package init(certificates: String, privateKey: String) {
      self.certificates = certificates
      self.privateKey = privateKey
    }
  }

  /// The IP address to listen on.
  package var address = "127.0.0.1"
  /// The port; 0 = any free port.
  package var port = 8080
  /// The TLS files; required for addresses other than loopback.
  package var tls: TLSFiles?
  /// Whether a proxy with TLS on this computer forwards all requests. If so, the last address in
  /// `X-Forwarded-For` is the address of the client, and cookies are marked as secure.
  package var isBehindProxy = false
  /// The host names of the page, such as `flash.example.com`. If the list is empty, any name is
  /// accepted with TLS, and only names of this computer are accepted without TLS.
  package var hosts: [String] = []
  /// The maximum size of a submitted campaign with its files, in bytes.
  package var submissionMaximum = 16 << 20
  /// The name and version of the program that serves the page, such as `otaflash-coordinator
  /// 1.4.0`.
  package var program = "otaflash-coordinator"
  /// Returns the command that verifies the events of a run by the hash of its last event. The
  /// report contains this command; with `nil` it contains no command.
  package var verification: (@Sendable (_ run: String, _ head: String) -> String)?

  package init() {}

  /// Whether browsers connect with TLS.
  var isSecure: Bool { tls != nil || isBehindProxy }

  /// Whether only programs on this computer can connect.
  var isLoopback: Bool { LoopbackAddress.contains(address) }

  /// Checks the address: if other computers can reach it, the page requires TLS, and must not be
  /// behind a proxy.
  ///
  /// - Throws: `plainAddress`, `openProxyAddress`.
  package func check() throws(PageFault) {
    guard tls != nil || isLoopback else { throw .plainAddress(address) }
    guard !isBehindProxy || isLoopback else { throw .openProxyAddress(address) }
  }
}

/// The addresses of this computer (RFC 1122, 3.2.1.3; RFC 4291, 2.5.3).
enum LoopbackAddress {
  static func contains(_ address: String) -> Bool {
    if address == "localhost" || address == "::1" { return true }
    let text = address.hasPrefix("::ffff:") ? String(address.dropFirst(7)) : address
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}

/// The reason why the page cannot be served.
package enum PageFault: Error, Hashable, Sendable {
  /// An address that other computers can reach requires TLS.
  case plainAddress(String)
  /// Only a proxy on this computer may state the address of a client.
  case openProxyAddress(String)
  case tls(path: String, words: String)
  case address(String, port: Int, words: String)
  /// There are no accounts, so no user could log in.
  case noAccounts(path: String)
  case accounts(AccountsFault)
}

extension PageFault: CustomStringConvertible {
  /// The fault with its remedy, as a clause.
  package var description: String {
    switch self {
    case .plainAddress(let address):
      "without TLS, passwords and tokens would be readable on the network of \(address): configure "
        + "a certificate and its private key, or listen on 127.0.0.1 behind a proxy with TLS"
    case .openProxyAddress(let address):
      "behind a proxy, the page must listen on a loopback address, not on \(address): otherwise "
        + "every client could state the address of another client"
    case .tls(let path, let words):
      "the TLS file \(path) cannot be used: \(words); a PEM file is required"
    case .address(let address, let port, let words):
      "cannot listen on \(address), port \(port): \(words); choose another port, or end the "
        + "process that uses this port"
    case .noAccounts(let path):
      "\(path) has no accounts, so no user could log in: add an account first"
    case .accounts(let fault): fault.description
    }
  }
}
#endif
