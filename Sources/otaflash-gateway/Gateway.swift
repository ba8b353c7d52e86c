#if Sites
import ArgumentParser
import Logging
import OtaflashConsole
import OtaflashDevices
import OtaflashSiteHost
import OtaflashSites

/// The root command of the program.
struct Gateway: GroupCommand, Sendable {
  static let configuration = CommandConfiguration(
    commandName: "otaflash-gateway",
    abstract: "Update the devices of one site for a coordinator.",
    version: Release.version,
    subcommands: [GatewayRun.self])

  @OptionGroup var global: GlobalOptions
}

/// Claims and executes jobs until the process receives a signal.
struct GatewayRun: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Claim and execute the jobs of a site, until the process receives a signal.",
    discussion: """
      After SIGTERM, updates in progress end at a safe point, and their devices are offered to \
      other gateways of the site. After a crash, the gateway continues its claims.
      """)

  /// The default of `--cache`, in bytes.
  private static let cacheDefault = 1 << 30
  private static let cacheUnit = 1 << 20

  @OptionGroup var broker: BrokerOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The site (default: the site in the credentials).", valueName: "name"))
  var site: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The gateway's name, unique at its site (default: the name in the credentials, or the host "
        + "name).",
      valueName: "name"))
  var name: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Concurrent transfers per adapter, 1 to 64 (default: automatic).", valueName: "number"))
  var parallel: WholeNumber?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The adapters to use, such as hci0,hci2 (default: all adapters that are on).",
      valueName: "list"),
    transform: CommaList<AdapterName>.parse)
  var adapters: CommaList<AdapterName>?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The maximum size of stored images, in MiB (default: 1024).", valueName: "size"))
  var cache: WholeNumber?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Run the device hooks of campaigns, with their programs in this folder (default: no hooks).",
      valueName: "path"),
    completion: .directory)
  var hooks: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Accept only images with a signature of this public key (PEM; default: any image).",
      valueName: "path"),
    completion: .file())
  var key: String?

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if let parallel, !(1...64).contains(parallel.value) {
      throw ValidationError("--parallel \(parallel.value) is out of range; specify 1 to 64")
    }
    guard site != nil || broker.credentials != nil else {
      throw ValidationError("--nats requires --site")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let credentials = try broker.read()
    if let credentials, credentials.gateway == nil {
      throw .sites(.otherCredentials(path: broker.credentials ?? "", isGateway: false))
    }
    let site = site ?? credentials?.gateway?.site ?? ""
    let name = name ?? credentials?.gateway?.name ?? HostName.current
    var settings = GatewayService.Settings(
      site: site, name: name,
      cacheMaximum: cache.map { $0.value * Self.cacheUnit } ?? Self.cacheDefault)
    settings.parallel = parallel?.value
    settings.adapters = adapters.map { Set($0.elements.map(\.number)) }
    settings.hooks = hooks
    settings.key = try key.map { path throws(CommandFault) in
      try VerificationKeyFile.load(path)
    }
    let options = broker.options(
      credentials, client: "otaflash-gateway \(site)/\(name)",
      inbox: SiteLayout.inbox(site: site, gateway: name))
    try await GatewayService(
      settings, options: options, boxKey: credentials?.boxKey, session: session,
      log: ServiceLog.logger("otaflash.gateway", global)
    ).run()
    return .done("stopped")
  }
}
#endif
