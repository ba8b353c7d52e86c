#if Sites
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging

/// The page and the API of a coordinator.
///
/// ```swift
/// let page = try SitesPage(model: sites, accounts: book, configuration: configuration)
/// try await page.run()
/// ```
package struct SitesPage: Sendable {
  /// The time in seconds after which a connection without a request is closed.
  private static let idleSeconds: Int64 = 75
  /// The maximum number of open connections; further connections wait.
  private static let connectionMaximum = 1000
  /// The maximum size of the header of a request, in bytes.
  private static let headerMaximum = 16 << 10

  let services: PageServices
  private let configuration: PageConfiguration

  /// Creates the page.
  ///
  /// - Parameters:
  ///   - cost: the cost of password hashes for unknown accounts, equal to the cost of the stored
  ///   hashes.
  /// - Throws: `plainAddress` or `openProxyAddress` if the address is not permitted
  ///   (`PageConfiguration.check`); `noAccounts` if there are no accounts.
  package init(
    model: any SitesModel, accounts: AccountBook, configuration: PageConfiguration,
    environment: SitesEnvironment = SitesEnvironment(),
    logger: Logger = Logger(label: "otaflash.page"), cost: PasswordHash.Cost = .standard
  ) throws(PageFault) {
    try configuration.check()
    guard !accounts.all.isEmpty else { throw .noAccounts(path: accounts.file.path) }
    self.configuration = configuration
    services = PageServices(
      model: model, accounts: accounts, configuration: configuration, environment: environment,
      logger: logger, cost: cost)
  }

  /// Serves the page until the task is cancelled.
  ///
  /// - Parameter onListening: called with the port when the server listens.
  package func run(
    onListening: @escaping @Sendable (Int) async -> Void = { _ in }
  ) async throws(PageFault) {
    let application = try application(onListening: onListening)
    do {
      try await application.run()
    } catch is CancellationError {
      return
    } catch {
      throw .address(configuration.address, port: configuration.port, words: "\(error)")
    }
  }

  /// Returns the web application, which tests also use.
  package func application(
    onListening: @escaping @Sendable (Int) async -> Void = { _ in }
  ) throws(PageFault) -> Application<RouterResponder<PageContext>> {
    Application(
      router: router, server: try server,
      configuration: ApplicationConfiguration(
        address: .hostname(configuration.address, port: configuration.port),
        availableConnectionsDelegate: MaximumAvailableConnections(
          Self.connectionMaximum, logger: services.logger)),
      onServerRunning: { channel in await onListening(channel.localAddress?.port ?? 0) },
      logger: services.logger)
  }

  private var server: HTTPServerBuilder {
    get throws(PageFault) {
      let plain = HTTPServerBuilder.http1(
        configuration: .init(
          idleTimeout: .seconds(Self.idleSeconds),
          httpDecoderConfiguration: .init(
            maxHeaderFieldSize: Self.headerMaximum, maxHeaderListSize: Self.headerMaximum,
            maxHeaderFieldCount: 100)))
      guard let files = configuration.tls else { return plain }
      do {
        return try .tls(plain, tlsConfiguration: try Self.tls(files))
      } catch let fault as PageFault {
        throw fault
      } catch {
        throw .tls(path: files.certificates, words: "\(error)")
      }
    }
  }

  private static func tls(
    _ files: PageConfiguration.TLSFiles
  ) throws(PageFault) -> TLSConfiguration {
    let certificates: [NIOSSLCertificate]
    do { certificates = try NIOSSLCertificate.fromPEMFile(files.certificates) } catch {
      throw .tls(path: files.certificates, words: "\(error)")
    }
    let key: NIOSSLPrivateKey
    do { key = try NIOSSLPrivateKey(file: files.privateKey, format: .pem) } catch {
      throw .tls(path: files.privateKey, words: "\(error)")
    }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key))
    configuration.minimumTLSVersion = .tlsv12
    return configuration
  }

  private var router: Router<PageContext> {
    let router = Router(context: PageContext.self, options: [.autoGenerateHeadEndpoints])
    let api = APIRoutes(services: services)
    router.add(middleware: ResponseGuard(services: services, methods: api.methods))
    let open = router.group()
    let service = ServiceRoutes(services: services)
    service.addFiles(to: open)
    LoginRoutes(services: services).add(to: open)
    service.addMetrics(
      to: router.group().add(middleware: Authentication(services: services, kind: .metrics)))
    api.add(
      to: router.group().add(middleware: Authentication(services: services, kind: .api)),
      openTo: open)
    let pages = router.group()
      .add(middleware: Authentication(services: services, kind: .page))
      .add(middleware: PageAccess(services: services))
    PageRoutes(services: services).add(to: pages)
    CommandRoutes(services: services).add(to: pages)
    EventRoutes(services: services).add(to: pages)
    LoginRoutes(services: services).addLogout(to: pages)
    return router
  }
}
#endif
