#if Sites
import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashSiteHost
import OtaflashSites

/// The commands that issue and revoke the credentials of gateways.
struct CredentialsCommand: GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "credentials",
    abstract: "Issue and revoke the credentials of gateways, for the message broker.",
    discussion: """
      The files are in the folder 'sites' of the state directory: accounts.conf for the servers, \
      coordinator.creds, and one file for each gateway, which is moved to the gateway. After each \
      change, the servers must reload accounts.conf: nats-server --signal reload.
      """,
    subcommands: [
      CredentialsInit.self, CredentialsIssue.self, CredentialsRevoke.self, CredentialsList.self,
    ])

  @OptionGroup var global: GlobalOptions
}

extension Subcommand {
  /// Returns the folder with the credentials, which is created if necessary.
  fileprivate func folder(_ session: Session) throws(CommandFault) -> CredentialsFolder {
    let path = SitePaths(in: try StateStore.open(session).directory.path).credentials
    do throws(SiteFileFault) { try SiteFile.makeFolder(path) } catch {
      throw .sites(.credentials(.file(error)))
    }
    return CredentialsFolder(path: path)
  }

  fileprivate func checked<Value>(
    _ body: () throws(CredentialsFault) -> Value
  ) throws(CommandFault) -> Value {
    do throws(CredentialsFault) { return try body() } catch { throw .sites(.credentials(error)) }
  }
}

/// Sets the servers, and issues the credentials of the coordinator.
struct CredentialsInit: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Set the servers, and issue the coordinator's credentials.")
  static let words = "credentials init"

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The URL of a server, such as tls://hub.example:4222; may be repeated.",
      valueName: "url"))
  var server: [String]

  @Option(
    name: .long,
    help: ArgumentHelp("The name in the servers' certificates.", valueName: "name"))
  var tlsName: String

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The path of the CA certificates on each host (PEM; default: the system's certificates).",
      valueName: "path"))
  var ca: String?

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    guard !server.isEmpty else { throw ValidationError("--server is missing") }
    if let stranger = server.first(where: { !$0.hasPrefix("tls://") }) {
      throw ValidationError("'\(stranger)' is not a URL that starts with tls://")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let folder = try folder(session)
    let servers = SiteServers(urls: server, tlsName: tlsName, trustedCertificates: ca)
    let path = try checked { () throws(CredentialsFault) in
      try folder.setServers(servers)
      return try folder.issueCoordinator()
    }
    session.console.result("coordinator:  \(path)")
    session.console.result("for servers:  include \"\(folder.accountsPath)\"")
    session.console.event(
      "credentials", ["path": .string(path), "accounts": .string(folder.accountsPath)])
    return .done("issued")
  }
}

struct CredentialsIssue: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "issue", abstract: "Issue the credentials of a gateway.")
  static let words = "credentials issue"

  @Argument(help: "The site of the gateway.") var site: String
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The gateway's name, unique at its site (default: gateway).", valueName: "name"))
  var gateway = "gateway"
  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let folder = try folder(session)
    let path = try checked { () throws(CredentialsFault) in
      try folder.issue(site: site, gateway: gateway)
    }
    session.console.result(path)
    session.console.note(
      "Move this file, the only copy of the private keys, to the gateway. The servers accept the "
        + "keys after they have reloaded \(folder.accountsPath).")
    session.console.event("credentials", ["path": .string(path)])
    return .done("issued")
  }
}

struct CredentialsRevoke: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "Revoke the credentials of a gateway.")
  static let words = "credentials revoke"

  @Argument(help: "The site of the gateway.") var site: String
  @Option(
    name: .long,
    help: ArgumentHelp("The gateway's name (default: gateway).", valueName: "name"))
  var gateway = "gateway"
  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let folder = try folder(session)
    try checked { () throws(CredentialsFault) in
      try folder.revoke(GatewayCredentials.Gateway(site: site, name: gateway))
    }
    session.console.result(
      "\(site)/\(gateway) is revoked after the servers have reloaded \(folder.accountsPath)")
    return .done("revoked")
  }
}

struct CredentialsList: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the gateways with credentials.")
  static let words = "credentials list"

  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let folder = try folder(session)
    let registry = try checked { () throws(CredentialsFault) in try folder.registry() }
    for gateway in registry.gateways {
      session.console.result("\(gateway.site)  \(gateway.name)  \(gateway.nkey)")
      session.console.event(
        "gateway",
        [
          "site": .string(gateway.site), "name": .string(gateway.name),
          "nkey": .string(gateway.nkey),
        ])
    }
    return .done("listed")
  }
}
#endif
