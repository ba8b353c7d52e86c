#if Sites
import ArgumentParser
import OtaflashBlueZ
import OtaflashConsole
import OtaflashDevices
import OtaflashFleetCommands
import OtaflashFleetHost
import OtaflashNATS
import OtaflashSiteHost
import OtaflashSites
import OtaflashSitesPage
import OtaflashState

/// The command that works on all open runs, and serves the page and the API.
struct ServeCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Work on campaigns, and serve the page and the API.",
    discussion: """
      The runs are stored in the state directory, like the runs of 'otaflash fleet'. Run one \
      coordinator for each deployment; a second coordinator does not start.
      """)

  @OptionGroup var broker: BrokerOptions
  @OptionGroup var page: PageOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Start or continue the run of this campaign, and end when the run has ended.",
      valueName: "campaign"),
    completion: .file())
  var run: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The number of jobs that may wait at one site, 1 to 1024 (default: 16).",
      valueName: "number"))
  var ahead: WholeNumber?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The time for which gateways of a site search for a device (default: 60s).",
      valueName: "time"),
    transform: TimeSpan.parse)
  var search: TimeSpan?

  @Option(
    name: .long,
    help: ArgumentHelp(
      """
      The number of servers that store each entry: 1, 3 or 5 (default: 1). The coordinator waits \
      up to 30 s until so many servers are connected.
      """,
      valueName: "number"))
  var replicas: WholeNumber?

  @Flag(name: .long, help: "Permit campaigns with hooks, which are programs on the hosts.")
  var permitHooks = false

  @OptionGroup var global: GlobalOptions

  var inputFiles: [String] { [run].compactMap(\.self) }

  func validate() throws {
    if let ahead, !(1...1024).contains(ahead.value) {
      throw ValidationError("--ahead \(ahead.value) is out of range; specify 1 to 1024")
    }
    if let replicas, ![1, 3, 5].contains(replicas.value) {
      throw ValidationError("--replicas \(replicas.value) is not 1, 3 or 5")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let credentials = try broker.read()
    if let credentials, credentials.gateway != nil {
      throw .sites(.otherCredentials(path: broker.credentials ?? "", isGateway: true))
    }
    let folder = try FleetFolder(of: session)
    let lock = try folder.lock()
    let store = try folder.open()
    let log = ServiceLog.logger("otaflash.coordinator", global)
    let connection = try await Broker.connect(
      broker.options(credentials, client: "otaflash-coordinator")
    ) { log.warning("\($0)") }
    let server = CoordinatorServer(
      page: page, campaign: run, settings: settings, folder: folder, store: store,
      connection: connection, session: session, log: log)
    let result = await withTaskExecutorPreference(EventLoop.shared) {
      () async -> Result<String?, CommandFault> in
      do throws(CommandFault) { return .success(try await server.serve()) } catch {
        return .failure(error)
      }
    }
    await connection.close()
    let id = try result.get()
    extendLifetime(lock)
    guard let id else { return .done("stopped") }
    return try await FleetSummary(id, store, session).report()
  }

  private var settings: CoordinatorService.Settings {
    var settings = CoordinatorService.Settings()
    if let ahead { settings.publishedAhead = ahead.value }
    if let search { settings.search = search.duration }
    if let replicas { settings.replicas = replicas.value }
    settings.permitsHooks = permitHooks
    return settings
  }
}
#endif
