#if Sites
import Logging
import OtaflashBlueZ
import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashFleetHooks
import OtaflashFleetHost
import OtaflashGATT
import OtaflashNATS
import OtaflashSites
import OtaflashState

/// A gateway, which claims the jobs of its site and executes them with the adapters of this host.
package struct GatewayService: Sendable {
  /// The settings of a gateway.
  package struct Settings: Sendable {
    package var site: String
    package var name: String
    /// The number of concurrent transfers on an adapter; `nil` = automatic.
    package var parallel: Int?
    /// The numbers of the adapters to use; `nil` = all adapters that are on.
    package var adapters: Set<UInt16>?
    /// The maximum total size of the stored images, in bytes.
    package var cacheMaximum: Int
    /// The folder with the programs of hooks; `nil` = hooks are not run.
    package var hooks: String?
    /// The key that must have signed each image; `nil` = no signature is required.
    package var key: VerificationKey?

    package init(site: String, name: String, cacheMaximum: Int) {
      self.site = site
      self.name = name
      self.cacheMaximum = cacheMaximum
    }
  }

  private let settings: Settings
  private let options: NATSOptions
  private let boxKey: GatewayPrivateKey?
  private let session: Session
  private let log: Logger

  /// - Parameters:
  ///   - boxKey: decrypts the keys of devices; `nil` if jobs contain no keys.
  package init(
    _ settings: Settings, options: NATSOptions, boxKey: GatewayPrivateKey?, session: Session,
    log: Logger
  ) {
    self.settings = settings
    self.options = options
    self.boxKey = boxKey
    self.session = session
    self.log = log
  }

  /// Works until the task is cancelled. Updates in progress then end at a safe point, and their
  /// jobs are returned.
  package func run() async throws(CommandFault) {
    let records = try StateStore.open(session)
    let log = log
    let connection = try await Broker.connect(options) { log.warning("\($0)") }
    let result = await withTaskExecutorPreference(EventLoop.shared) {
      () async -> Result<Void, CommandFault> in
      do throws(CommandFault) {
        return .success(try await work(over: connection, records))
      } catch {
        return .failure(error)
      }
    }
    await connection.close()
    try result.get()
  }

  private func work(
    over connection: NATSConnection, _ records: StateStore
  ) async throws(CommandFault) {
    let clock = EventLoopClock()
    let exchange: JetStreamExchange
    let reporter: PresenceReporter
    let bucket: KeyValueBucket
    do throws(NATSFault) {
      let stream = try JetStream(connection)
      exchange = try JetStreamExchange(
        stream, clock: clock,
        journal: FileClaimJournal(path: records.directory.path + "/claims"))
      reporter = PresenceReporter(
        try KeyValueBucket(SiteLayout.presence, of: stream), site: settings.site,
        gateway: settings.name, clock: clock)
      bucket = try KeyValueBucket(SiteLayout.images, of: stream)
    } catch {
      throw .sites(.broker(error))
    }
    let images: GatewayImages
    do throws(SiteImageFault) {
      images = GatewayImages(
        try cache(bucket, records), records: records, signedBy: settings.key)
    } catch {
      throw .sites(.images(error))
    }
    let transport = AdapterTransport(
      forAnyDeviceOn: settings.adapters, usesRadios: await hasAdapter(), in: session)
    let pool = WorkerPool(
      worker: FleetWorker(name: "\(settings.site)/\(settings.name)", site: settings.site),
      parallel: settings.parallel, exchange: exchange, transport: transport,
      environment: environment(clock, images, records))
    let started = WallClockTime.now
    let notifier = ServiceNotifier(environment: session.environment)
    let result = try await transport.serve {
      await withService({
        await withTaskGroup(of: Void.self) { group in
          group.addTask { await notifier.watch() }
          group.addTask {
            await self.report(with: reporter) {
              GatewayReport(
                version: Release.version, adapters: transport.adapters(),
                places: WorkerPool.places(
                  adapters: transport.adapters().count, parallel: settings.parallel),
                jobs: exchange.claimedJobs, startedAt: started)
            }
          }
        }
      }) { () async -> Result<Void, ExchangeFault> in
        log.info("ready", metadata: ["site": "\(settings.site)", "gateway": "\(settings.name)"])
        notifier.ready()
        defer { notifier.stopping() }
        do throws(ExchangeFault) { return .success(try await pool.run()) } catch {
          return .failure(error)
        }
      }
    }
    do throws(NATSFault) { try await reporter.end() } catch {
      log.debug("the last report was not sent", metadata: ["cause": "\(error)"])
    }
    if case .failure(let fault) = result {
      throw .fleet(.failed(words: "jobs cannot be claimed: \(fault)"))
    }
  }

  private func cache(
    _ bucket: KeyValueBucket, _ records: StateStore
  ) throws(SiteImageFault) -> ImageCache {
    try ImageCache(
      bucket, folder: records.directory.path + "/site-images", limit: settings.cacheMaximum)
  }

  private func hasAdapter() async -> Bool {
    do throws(MgmtFault) {
      let present = try await AdapterRoster().present()
      if !present.isEmpty { return true }
      log.warning("no adapter is on; only devices without a radio can be updated")
    } catch {
      log.warning("Bluetooth cannot be used", metadata: ["cause": "\(error)"])
    }
    return false
  }

  private func report(
    with reporter: PresenceReporter, _ report: @Sendable () async -> GatewayReport
  ) async {
    do throws(NATSFault) { try await reporter.run(report) } catch {
      log.error("the reports of this gateway are not permitted", metadata: ["cause": "\(error)"])
    }
  }

  private func environment(
    _ clock: EventLoopClock, _ images: GatewayImages, _ records: StateStore
  ) -> FleetEnvironment {
    let (log, settings, boxKey) = (log, settings, boxKey)
    var environment = FleetEnvironment(
      clock: clock, wall: { .now }, elapsed: { BootTime.elapsed }, image: { _ in nil },
      bases: records.bases(besides: nil),
      hooks: settings.hooks.map { ProcessHooks(in: $0) },
      observe: { device, event in
        log.debug("\(event)", metadata: ["device": "\(device)"])
      },
      notice: { log.warning("\($0)") })
    environment.fetchImage = { (digest) async throws(ImageUnavailable) in
      try await images.package(digest)
    }
    environment.unseal = { key, job in
      guard let boxKey else { return nil }
      let purpose = SealedKeyPurpose(site: settings.site, run: job.run, device: job.device)
      do throws(KeySealFault) { return try key.open(for: purpose, with: boxKey) } catch {
        log.error("\(error)", metadata: ["device": "\(job.device)"])
        return nil
      }
    }
    return environment
  }
}
#endif
