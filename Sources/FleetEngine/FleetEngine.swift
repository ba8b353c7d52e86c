import OtaflashFleet
import OtaflashGATT

/// Runs a campaign in this process: the coordinator, which records events, and workers with this
/// machine's adapters. The same on the kernel's adapters and on simulated boards in virtual time.
///
/// ```swift
/// let plan = try CampaignPlan(campaign, now: now)
/// let engine = FleetEngine(
///   campaign: campaign, ledger: MemoryLedger(), transport: transport, environment: environment)
/// try await engine.begin(plan, id: "r1")
/// let run = try await engine.run()
/// ```
public struct FleetEngine: Sendable {
  /// What is to be done.
  public let campaign: Campaign
  package let exchange: any JobExchange
  /// Where the run's events are recorded.
  public let ledger: any EventLedger
  /// The adapters and devices.
  public let transport: any DeviceTransport
  /// Time, images and keys.
  public let environment: FleetEnvironment
  /// Unique among those that work on jobs of the exchange.
  package let worker: FleetWorker
  /// Where people's requests come from; `nil` = nobody can ask.
  public var commands: (any CommandSource)?
  /// Waits for a request when only a person could help; `false` = returns then.
  public var waitsForOperator = true
  /// Told after events were recorded, and once at the beginning; must return soon.
  public var observe: @Sendable ([FleetEvent], FleetRun) -> Void = { _, _ in }

  /// A run whose workers are all in this process.
  public init(
    campaign: Campaign, ledger: any EventLedger, transport: any DeviceTransport,
    environment: FleetEnvironment
  ) {
    self.init(
      campaign: campaign, exchange: MemoryExchange(), ledger: ledger, transport: transport,
      environment: environment)
  }

  package init(
    campaign: Campaign, exchange: any JobExchange, ledger: any EventLedger,
    transport: any DeviceTransport, environment: FleetEnvironment,
    worker: FleetWorker = FleetWorker(name: "local")
  ) {
    self.campaign = campaign
    self.exchange = exchange
    self.ledger = ledger
    self.transport = transport
    self.environment = environment
    self.worker = worker
  }

  private enum Part: Sendable {
    case coordinator(Result<FleetRun, FleetEngineFault>)
    case workers(Result<Void, ExchangeFault>)
    case hooks
  }

  /// Goes on with the run whose events the ledger holds; `begin` puts the first ones there.
  ///
  /// - Returns: where the run stands when it has ended, or when only a person could help.
  /// - Throws: what could not be kept, and `.cancelled`. All that was recorded is kept, devices
  ///   were left at a safe point, and the same again goes on.
  public func run() async throws(FleetEngineFault) -> FleetRun {
    let history: [RecordedEvent]
    do throws(StorageFault) { history = try await ledger.history() } catch { throw .storage(error) }
    let former = FleetRun(history)
    let workersEnded = OneShot<Void>()
    let waveHooks = WaveHookRunner(campaign, runner: environment.hooks)
    let adapters = AdapterWatch()
    let time = RunClock(environment, after: former.lastAt)
    let coordinator = Coordinator(
      rules: FleetRules(campaign, publishedAhead: publishedAhead), exchange: exchange,
      ledger: ledger, commands: commands, waits: waitsForOperator, environment: environment,
      time: time,
      hooks: waveHooks, adapters: adapters, workersEnded: workersEnded, observe: observe)
    let workers = WorkerPool(
      worker: worker, campaign: campaign, plan: former, exchange: exchange, transport: transport,
      environment: environment, time: time, adapters: adapters)
    let result = await withTaskGroup(
      of: Part.self, returning: Result<FleetRun, FleetEngineFault>.self
    ) { group in
      group.addTask {
        // A worker that waits for a record would wait for ever.
        defer { exchange.close() }
        do throws(FleetEngineFault) {
          return .coordinator(.success(try await coordinator.run(former)))
        } catch {
          return .coordinator(.failure(error))
        }
      }
      group.addTask {
        defer { workersEnded.fulfil(()) }
        do throws(ExchangeFault) {
          try await workers.run()
          return .workers(.success(()))
        } catch {
          return .workers(.failure(error))
        }
      }
      group.addTask {
        await waveHooks.work()
        return .hooks
      }
      var result: Result<FleetRun, FleetEngineFault>?
      for await part in group {
        // Whoever ends first ends the other; what it says is what happened.
        group.cancelAll()
        switch part {
        case .coordinator(let ended): result = result ?? ended
        case .workers(.failure(let fault)): result = result ?? .failure(FleetEngineFault(fault))
        case .workers(.success), .hooks: break
        }
      }
      return result ?? .failure(.cancelled)
    }
    return try result.get()
  }

  /// Records the first events of a run: its devices and waves, frozen.
  ///
  /// - Parameters:
  ///   - plan: of the campaign.
  ///   - id: of the run.
  ///   - digests: the digest of each image by its name in the campaign, which `FleetEnvironment`'s
  ///     `image` is asked for; an image without one is asked for by its name.
  public func begin(
    _ plan: CampaignPlan, id: String, imageDigests digests: [String: String] = [:]
  ) async throws(FleetEngineFault) {
    let names = Dictionary(uniqueKeysWithValues: Set(campaign.images.values).map { ($0, $0) })
    try await begin(
      plan.beginning(id: id, digest: "", imageDigests: names.merging(digests) { $1 }))
  }

  /// Records the first events of a run.
  package func begin(_ events: [FleetEvent]) async throws(FleetEngineFault) {
    do throws(StorageFault) { try await ledger.append(events, at: environment.wall()) } catch {
      throw .storage(error)
    }
  }

  /// Enough that no adapter waits for the coordinator's next look.
  private var publishedAhead: Int { max(4, 2 * transport.adapters().count) }
}
