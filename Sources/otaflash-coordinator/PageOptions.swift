#if Sites
import ArgumentParser
import OtaflashSitesPage

/// The options of the page.
struct PageOptions: ParsableArguments, Sendable {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The address and port of the page; an address other than loopback requires TLS "
        + "(default: 127.0.0.1:8080).",
      valueName: "address"))
  var listen: String?

  @Option(
    name: .long,
    help: ArgumentHelp("The certificate chain of the page (PEM).", valueName: "path"),
    completion: .file())
  var certificate: String?

  @Option(
    name: .long,
    help: ArgumentHelp("The private key of the page (PEM).", valueName: "path"),
    completion: .file())
  var privateKey: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A host name of the page, such as flash.example.com; may be repeated.",
      valueName: "name"))
  var host: [String] = []

  @Flag(
    name: .long,
    help: "A proxy with TLS on this machine forwards all requests, and states their clients.")
  var behindProxy = false

  func validate() throws {
    guard (certificate == nil) == (privateKey == nil) else {
      throw ValidationError("--certificate and --private-key require each other")
    }
    if let listen, parts(of: listen) == nil {
      throw ValidationError("'\(listen)' is not an address with a port, such as 127.0.0.1:8080")
    }
  }

  private func parts(of text: String) -> (address: String, port: Int)? {
    guard let colon = text.lastIndex(of: ":"),
      let port = Int(text[text.index(after: colon)...]), (0...65535).contains(port)
    else { return nil }
    var address = String(text[..<colon])
    if address.hasPrefix("["), address.hasSuffix("]") {
      address = String(address.dropFirst().dropLast())
    }
    return address.isEmpty ? nil : (address, port)
  }

  var configuration: PageConfiguration {
    var configuration = PageConfiguration()
    if let (address, port) = listen.flatMap(parts) {
      (configuration.address, configuration.port) = (address, port)
    }
    if let certificate, let privateKey {
      configuration.tls = .init(certificates: certificate, privateKey: privateKey)
    }
    configuration.hosts = host
    configuration.isBehindProxy = behindProxy
    return configuration
  }
}
#endif
