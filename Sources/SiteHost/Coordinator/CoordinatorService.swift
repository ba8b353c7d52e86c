#if Sites
import Logging
import OtaflashBlueZ
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashFleetHooks
import OtaflashFleetHost
import OtaflashFleetStore
import OtaflashGATT
import OtaflashNATS
import OtaflashSites
import Synchronization

/// The coordinator of a deployment. It works on all open runs, and is the only process that records
/// the events of these runs.
package final class CoordinatorService: Sendable {
  private struct State {
    var roster = GatewayRoster()
    /// The ids of the runs on which a task works.
    var active: Set<String> = []
  }

  /// The maximum number of runs that wait for their task.
  private static let waitingMaximum = 256
  private static let rosterInterval = Duration.seconds(5)
  private static let progressInterval = Duration.seconds(2)
  /// The maximum wait for the servers of a cluster, which start together with the coordinator.
  private static let serversLimit = Duration.seconds(30)
  private static let serversPause = Duration.seconds(1)

  private let settings: Settings
  private let store: FleetStore
  private let folder: FleetFolder
  private let campaigns: SiteCampaigns
  private let stream: JetStream
  private let coordinator: SiteCoordinator
  private let exchange: JetStreamExchange
  private let images: ImageUpload
  private let registry: @Sendable () -> GatewayRegistry
  private let session: Session
  private let log: Logger
  private let state = Mutex(State())
  private let waiting = Mailbox<SiteRun>(capacity: CoordinatorService.waitingMaximum)
  /// The ids of the runs that received a command.
  private let requested = Mailbox<String>(capacity: CoordinatorService.waitingMaximum)
  private let ended = Mutex<[String: OneShot<Void>]>([:])
  /// Called with the recorded events and the state of a run.
  private let observe: @Sendable ([FleetEvent], FleetRun) -> Void
  private let progressed: @Sendable (JobProgress) -> Void
  private let released: @Sendable (String) async -> Void

  /// - Parameters:
  ///   - registry: returns the list of gateways with their public keys.
  package init(
    _ settings: Settings, store: FleetStore, folder: FleetFolder, connection: NATSConnection,
    registry: @escaping @Sendable () -> GatewayRegistry, observers: Observers, session: Session,
    log: Logger
  ) throws(CommandFault) {
    self.settings = settings
    self.store = store
    self.folder = folder
    self.registry = registry
    self.session = session
    self.log = log
    observe = observers.observe
    progressed = observers.progressed
    released = observers.released
    campaigns = SiteCampaigns(
      store: store, session: session, permitsHooks: settings.permitsHooks)
    do throws(NATSFault) {
      stream = try JetStream(connection)
      coordinator = try SiteCoordinator(
        stream, clock: EventLoopClock(), elapsed: { BootTime.elapsed },
        notice: { log.warning("\($0)") })
      exchange = try JetStreamExchange(
        stream, clock: EventLoopClock(), coordinator: coordinator)
      images = ImageUpload(try KeyValueBucket(SiteLayout.images, of: stream))
    } catch {
      throw .sites(.broker(error))
    }
  }

  // MARK: Tasks

  private enum Part: Sendable {
    case leader(Result<Void, LeadershipFault>)
    case body
    case other
  }

  /// Works on the open runs until `body` ends or another coordinator takes over.
  ///
  /// - Parameter body: runs concurrently, for example to serve the page; the coordinator ends when
  ///   `body` ends.
  package func serve(
    while body: @escaping @Sendable () async -> Void
  ) async throws(CommandFault) {
    let clock = EventLoopClock()
    try await prepare(clock)
    let leadership = try await lead()
    let result = await withTaskGroup(
      of: Part.self, returning: Result<Void, LeadershipFault>.self
    ) { group in
      group.addTask {
        do throws(LeadershipFault) {
          try await leadership.keep()
          return .leader(.success(()))
        } catch {
          return .leader(.failure(error))
        }
      }
      group.addTask {
        await self.coordinator.serve()
        return .other
      }
      group.addTask {
        await self.watchGateways(clock)
        return .other
      }
      group.addTask {
        await self.workOnRuns(clock)
        return .other
      }
      group.addTask {
        await self.resumeRequested()
        return .other
      }
      group.addTask {
        await body()
        return .body
      }
      var result = Result<Void, LeadershipFault>.success(())
      for await part in group {
        switch part {
        case .leader(.failure(let fault)):
          result = .failure(fault)
          group.cancelAll()
        case .body, .leader(.success): group.cancelAll()
        case .other: break
        }
      }
      return result
    }
    if case .success = result {
      do throws(NATSFault) { try await shieldedRelease(leadership) } catch {
        log.debug("the entry of this coordinator was not removed", metadata: ["cause": "\(error)"])
      }
    }
    do throws(LeadershipFault) { try result.get() } catch { throw .sites(.leadership(error)) }
  }

  private func shieldedRelease(_ leadership: Leadership) async throws(NATSFault) {
    let result = await shielded { () async -> Result<Void, NATSFault> in
      do throws(NATSFault) { return .success(try await leadership.release()) } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  private func prepare(_ clock: EventLoopClock) async throws(CommandFault) {
    let end = clock.now.advanced(by: Self.serversLimit)
    while true {
      do throws(NATSFault) {
        try await SiteStreams.create(on: stream, replicas: settings.replicas)
        return try await SiteStreams.createConsumers(of: registry().sites, on: stream)
      } catch {
        guard error.isOfStartingServers, clock.now < end else { throw .sites(.broker(error)) }
        log.notice("the servers are not ready", metadata: ["cause": "\(error)"])
        guard await clock.pause(for: Self.serversPause) else { throw .stopped }
      }
    }
  }

  private func lead() async throws(CommandFault) -> Leadership {
    do {
      let bucket = try KeyValueBucket(SiteLayout.leader, of: stream)
      // The caller has locked the store, so no other process has the same id.
      let host = HostName.current
      return try await Leadership.acquire(
        in: bucket, as: CoordinatorName(id: "\(host):\(folder.path)", host: host),
        clock: EventLoopClock())
    } catch let fault as LeadershipFault {
      throw .sites(.leadership(fault))
    } catch let fault as NATSFault {
      throw .sites(.broker(fault))
    } catch {
      preconditionFailure("an unknown fault: \(error)")
    }
  }

  private func watchGateways(_ clock: EventLoopClock) async {
    repeat {
      do throws(NATSFault) {
        let bucket = try KeyValueBucket(SiteLayout.presence, of: stream)
        let entries = try await bucket.all()
        state.withLock { $0.roster.update(with: entries, at: BootTime.elapsed) }
      } catch {
        log.debug("gateways cannot be read", metadata: ["cause": "\(error)"])
        await restoreBuckets(after: error)
      }
    } while await clock.pause(for: Self.rosterInterval)
  }

  /// Creates the buckets in memory again, which are lost when a server restarts.
  private func restoreBuckets(after fault: NATSFault) async {
    guard case .refused(let refusal) = fault, refusal.number == JetStreamRefusal.streamNotFound
    else { return }
    do throws(NATSFault) {
      try await SiteStreams.create(on: stream, replicas: settings.replicas)
    } catch {
      log.warning("buckets cannot be created", metadata: ["cause": "\(error)"])
    }
  }

  // MARK: Gateways

  /// The gateways, each with the age of its last report.
  package var gateways: [(gateway: GatewayRoster.Gateway, age: Duration)] {
    let now = BootTime.elapsed
    return state.withLock { $0.roster.gateways(at: now) }.map { ($0, now - $0.lastSeen) }
  }

  // MARK: Runs

  /// Starts a run of a campaign, or continues the open run of the campaign. If the last run of the
  /// unchanged campaign has ended, starts a run only if `again` is `true`.
  ///
  /// - Returns: the id of the run, which may have ended.
  package func start(
    _ path: String, by person: String, again: Bool = false
  ) async throws(CommandFault) -> String {
    let (run, id) = try await campaigns.start(path, by: person, again: again)
    guard let run else { return id }
    // An open run may already have a task.
    _ = enqueue(run)
    return id
  }

  /// Waits until the work on a run has ended or the task is cancelled.
  package func end(of run: String) async {
    guard state.withLock({ $0.active.contains(run) }) else { return }
    let wait = ended.withLock { waits in
      let wait = waits[run] ?? OneShot<Void>()
      waits[run] = wait
      return wait
    }
    _ = await wait.wait()
  }

  /// Resumes the work on a run, for example after a command for a run on which no task works.
  package func requestWork(on id: String) { _ = requested.offer(id) }

  private func resumeRequested() async {
    while let id = await requested.next() {
      do throws(CommandFault) { try await resume(id) } catch {
        report(error, of: id, "the run cannot be continued")
      }
    }
  }

  private func resume(_ id: String) async throws(CommandFault) {
    guard !state.withLock({ $0.active.contains(id) }) else { return }
    for kept in try await campaigns.open() where kept.id == id {
      _ = enqueue(try await campaigns.resume(kept))
    }
  }

  private func enqueue(_ run: SiteRun) -> Bool {
    guard state.withLock({ $0.active.insert(run.kept.id).inserted }) else { return false }
    return waiting.offer(run)
  }

  private func workOnRuns(_ clock: EventLoopClock) async {
    await resumeAll()
    await withDiscardingTaskGroup { group in
      while let run = await waiting.next() {
        group.addTask {
          await self.work(on: run, clock)
          _ = self.state.withLock { $0.active.remove(run.kept.id) }
          self.ended.withLock { $0.removeValue(forKey: run.kept.id) }?.fulfil(())
          await self.released(run.kept.id)
        }
      }
    }
  }

  private func resumeAll() async {
    do throws(CommandFault) {
      for kept in try await campaigns.open() {
        do throws(CommandFault) { _ = enqueue(try await campaigns.resume(kept)) } catch {
          report(error, of: kept.id, "the run cannot be continued")
        }
      }
    } catch {
      report(error, of: "", "open runs cannot be read")
    }
  }

  private func report(_ fault: CommandFault, of run: String, _ words: String) {
    let what = session.context.report(fault).what
    log.error("\(words)", metadata: ["run": "\(run)", "cause": "\(what)"])
  }

  private func work(on run: SiteRun, _ clock: EventLoopClock) async {
    let id = run.kept.id
    do throws(CommandFault) {
      let lock = try await folder.lock(run: id)
      try await upload(run)
      try await checkLog(of: run)
      log.info("run started", metadata: ["run": "\(id)", "campaign": "\(run.kept.campaign)"])
      let result = await withService({ await self.watchProgress(of: id, clock) }) {
        await self.coordinate(run, clock)
      }
      extendLifetime(lock)
      switch result {
      case .success(let ended):
        log.info("run ended", metadata: ["run": "\(id)", "state": "\(ended.control)"])
      case .failure(.cancelled): log.info("run interrupted", metadata: ["run": "\(id)"])
      case .failure(let fault):
        log.error("run failed", metadata: ["run": "\(id)", "cause": "\(fault)"])
      }
    } catch {
      report(error, of: id, "the run cannot start")
    }
  }

  /// Throws if the event log of a run lacks an attempt that the message broker has. If the log
  /// lacks only outcomes, their facts are recorded again.
  private func checkLog(of run: SiteRun) async throws(CommandFault) {
    let id = run.kept.id
    let history = FleetRun(try await store.history(of: id))
    let standing: LogStanding
    do throws(ExchangeFault) { standing = try await coordinator.standing(of: history) } catch {
      throw .fleet(.failed(words: "run \(id) cannot continue: \(error)"))
    }
    switch standing {
    case .current: return
    case .behind:
      log.notice(
        "the event log was restored from a backup; facts are read again", metadata: ["run": "\(id)"]
      )
    case .lost(let device): throw .sites(.olderLog(run: id, device: device))
    }
  }

  private func coordinate(
    _ run: SiteRun, _ clock: EventLoopClock
  ) async -> Result<FleetRun, FleetEngineFault> {
    let environment = FleetEnvironment(
      clock: clock, wall: { .now }, elapsed: { BootTime.elapsed }, image: { _ in nil },
      hooks: settings.permitsHooks ? ProcessHooks(in: run.folder) : nil)
    let limits = RunCoordinator.Limits(
      publishedAhead: settings.publishedAhead, search: settings.search)
    let coordinator = RunCoordinator(
      campaign: run.campaign.plan.campaign, exchange: exchange,
      ledger: store.ledger(of: run.kept.id), environment: environment, limits: limits,
      commands: store.commands(of: run.kept.id), keys: { self.sealedKey(of: $0, in: run) },
      observe: observe)
    do throws(FleetEngineFault) { return .success(try await coordinator.run()) } catch {
      return .failure(error)
    }
  }

  private func sealedKey(of device: RunDevice, in run: SiteRun) -> SealedKey? {
    guard let key = run.campaign.keys[device.id], let site = device.site else { return nil }
    let purpose = SealedKeyPurpose(site: site, run: run.kept.id, device: device.id)
    do throws(KeySealFault) {
      return try SealedKey(key, for: purpose, gateways: registry().boxKeys(ofSite: site))
    } catch {
      log.error("\(error)", metadata: ["run": "\(run.kept.id)", "device": "\(device.id)"])
      return nil
    }
  }

  private func upload(_ run: SiteRun) async throws(CommandFault) {
    for digest in run.images.sorted() {
      do {
        try await images.store(try store.blob(digest))
      } catch let fault as StorageFault {
        throw .fleet(.store(fault))
      } catch let fault as SiteImageFault {
        throw .sites(.images(fault))
      } catch {
        preconditionFailure("an unknown fault: \(error)")
      }
    }
  }

  private func watchProgress(of run: String, _ clock: EventLoopClock) async {
    while await clock.pause(for: Self.progressInterval) {
      for progress in await exchange.progress(of: run) { progressed(progress) }
    }
  }
}
#endif
