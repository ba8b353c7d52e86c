#if Sites
import Logging
import OtaflashBlueZ
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetCommands
import OtaflashFleetHost
import OtaflashFleetStore
import OtaflashGATT
import OtaflashNATS
import OtaflashSiteHost
import OtaflashSites
import OtaflashSitesPage
import OtaflashState
import Synchronization

/// The coordinator together with its page.
struct CoordinatorServer: Sendable {
  let page: PageOptions
  /// The path of a campaign. When the run of this campaign ends, the process exits; `nil` = the
  /// process exits only after a signal.
  let campaign: String?
  let settings: CoordinatorService.Settings
  let folder: FleetFolder
  let store: FleetStore
  let connection: NATSConnection
  let session: Session
  let log: Logger

  /// Runs the coordinator and the page.
  ///
  /// - Returns: the id of the campaign's run if the run has ended.
  func serve() async throws(CommandFault) -> String? {
    let paths = SitePaths(in: try StateStore.open(session).directory.path)
    let submissions = SubmissionFolder(path: paths.submissions)
    let held = ServiceHolder()
    let sites = StoredSites(store: store, functions: functions(held, submissions))
    var observers = CoordinatorService.Observers()
    observers.observe = { sites.observe($0, $1) }
    observers.progressed = { sites.progressed($0) }
    observers.released = { await sites.release(run: $0) }
    let credentials = CredentialsFolder(path: paths.credentials)
    let log = log
    let service = try CoordinatorService(
      settings, store: store, folder: folder, connection: connection,
      registry: {
        do throws(CredentialsFault) { return try credentials.registry() } catch {
          log.error("\(error)")
          return GatewayRegistry()
        }
      }, observers: observers, session: session, log: log)
    held.service = service
    let site = try sitesPage(of: sites, accounts: AccountsFile(path: paths.accounts))
    let outcome = Outcome()
    try await service.serve {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await work(on: service, outcome) }
        if let site { group.addTask { await serve(site, outcome) } }
        group.addTask {
          do throws(SitesFault) { try await sites.load() } catch { log.error("\(error)") }
          await untilCancelled()
        }
        group.addTask { await ServiceNotifier(environment: session.environment).watch() }
        await outcome.wait()
        group.cancelAll()
      }
    }
    if let fault = outcome.fault { throw fault }
    return outcome.run
  }

  /// Returns the page; `nil` if there is no accounts file, and the process ends with the run of
  /// `campaign`.
  private func sitesPage(
    of sites: StoredSites, accounts: AccountsFile
  ) throws(CommandFault) -> SitesPage? {
    do {
      return try SitesPage(
        model: sites, accounts: try AccountBook(accounts), configuration: page.configuration,
        logger: log)
    } catch AccountsFault.missing where campaign != nil {
      log.notice("there are no accounts, so the page is not served")
      return nil
    } catch {
      throw .sites(.page(words: "\(error)"))
    }
  }

  private func untilCancelled() async { _ = await OneShot<Void>().wait() }

  private func work(on service: CoordinatorService, _ outcome: Outcome) async {
    let notifier = ServiceNotifier(environment: session.environment)
    notifier.ready()
    log.info("ready")
    guard let campaign else { return await untilCancelled() }
    do throws(CommandFault) {
      let id = try await service.start(campaign, by: OperatorText.account)
      await service.end(of: id)
      if !Task.isCancelled { outcome.end(.success(id)) }
    } catch {
      outcome.end(.failure(error))
    }
  }

  private func serve(_ site: SitesPage, _ outcome: Outcome) async {
    let (log, address) = (log, page.configuration.address)
    do throws(PageFault) {
      try await site.run { port in
        log.info("page", metadata: ["address": "\(address)", "port": "\(port)"])
      }
    } catch {
      outcome.end(.failure(.sites(.page(words: "\(error)"))))
    }
  }

  private func functions(
    _ held: ServiceHolder, _ submissions: SubmissionFolder
  ) -> StoredSites.Functions {
    let context = session.context
    return StoredSites.Functions(
      gateways: { () async throws(SitesFault) in
        (held.service?.gateways ?? []).map { GatewayState($0.gateway, age: $0.age) }
      },
      submit: { (submission) async throws(SitesFault) in
        guard let service = held.service else { throw .unavailable(words: "it is starting") }
        let path = try submissions.store(submission)
        do throws(CommandFault) {
          return try await service.start(path, by: submission.by)
        } catch {
          let report = context.report(error)
          throw .invalidCampaign([report.what] + report.passages.map(\.what))
        }
      },
      commanded: { held.service?.requestWork(on: $0) })
  }
}

extension GatewayState {
  /// - Parameter age: the age of the gateway's last report.
  fileprivate init(_ gateway: GatewayRoster.Gateway, age: Duration) {
    self.init(
      site: gateway.site, name: gateway.name, version: gateway.report?.version ?? "unknown",
      adapters: gateway.report?.adapters ?? [],
      lastReport: WallClockTime.now.advanced(by: .zero - age), isRunning: gateway.isRunning,
      jobs: gateway.report?.jobs ?? [])
  }
}

/// Holds the service, which is created after its observers.
private final class ServiceHolder: Sendable {
  private let stored = Mutex<CoordinatorService?>(nil)

  var service: CoordinatorService? {
    get { stored.withLock { $0 } }
    set { stored.withLock { $0 = newValue } }
  }
}

/// The result with which the coordinator ends before it receives a signal.
private final class Outcome: Sendable {
  private let stored = Mutex<Result<String, CommandFault>?>(nil)
  private let isSet = OneShot<Void>()

  func end(_ result: Result<String, CommandFault>) {
    stored.withLock { $0 = $0 ?? result }
    isSet.fulfil(())
  }

  func wait() async { _ = await isSet.wait() }

  var run: String? {
    if case .success(let run) = stored.withLock({ $0 }) { run } else { nil }
  }

  var fault: CommandFault? {
    if case .failure(let fault) = stored.withLock({ $0 }) { fault } else { nil }
  }
}
#endif
