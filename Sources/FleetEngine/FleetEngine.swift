import OtaflashFleet
import OtaflashGATT

/// The engine that runs a campaign in this process. It consists of a coordinator, which records
/// events, and workers, which use the adapters of the host or simulated boards in virtual time.
///
/// ```swift
/// let plan = try CampaignPlan(campaign, now: now)
/// let engine = FleetEngine(
///   campaign: campaign, ledger: MemoryLedger(), transport: transport, environment: environment)
/// try await engine.begin(plan, id: "r1")
/// let run = try await engine.run()
/// ```
public struct FleetEngine: Sendable {
  /// The campaign.
  public let campaign: Campaign
  package let exchange: any JobExchange
  /// The event log of the run.
  public let ledger: any EventLedger
  /// The adapters and devices.
  public let transport: any DeviceTransport
  /// The clocks, images and keys.
  public let environment: FleetEnvironment
  /// The worker, with a unique name among the workers of the exchange.
  package let worker: FleetWorker
  /// The source of operator commands; `nil` = commands are not possible.
  public var commands: (any CommandSource)?
  /// Whether `run` waits when only an operator can continue the run; `false` = it returns. Without
  /// `commands`, it always returns.
  public var waitsForOperator = true
  /// A callback that is called after events were recorded, and once at the start. It must return
  /// soon.
  public var observe: @Sendable ([FleetEvent], FleetRun) -> Void = { _, _ in }

  /// Creates an engine whose workers are in this process.
  public init(
    campaign: Campaign, ledger: any EventLedger, transport: any DeviceTransport,
    environment: FleetEnvironment
  ) {
    self.init(
      campaign: campaign,
      exchange: MemoryExchange(clock: environment.clock, elapsed: environment.elapsed),
      ledger: ledger, transport: transport,
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

  /// Continues the run in the event log, whose first events `begin` has recorded.
  ///
  /// - Returns: the state of the run after its end, or when only an operator can continue it.
  /// - Throws: faults of the storage or the exchange, and `.cancelled`. Recorded events are kept,
  ///   devices were left at a safe point, and another call resumes the run.
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
      worker: worker, parallel: campaign.parallel, exchange: exchange, transport: transport,
      environment: environment, adapters: adapters)
    let result = await withTaskGroup(
      of: Part.self, returning: Result<FleetRun, FleetEngineFault>.self
    ) { group in
      group.addTask {
        // Otherwise a worker that waits for a record would wait indefinitely.
        defer { exchange.close(former.beginning?.id ?? "") }
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
        // The first task that ends also ends the other tasks.
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

  /// Records the first events of a run, which freeze its devices and waves.
  ///
  /// - Parameters:
  ///   - plan: the plan of the campaign.
  ///   - id: the id of the run.
  ///   - digests: the digests of images by their names in the campaign, for the `image` function of
  ///     `FleetEnvironment`; an image without a digest is requested by its name.
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

  /// The maximum number of jobs that wait for a worker. It is large enough that no adapter waits
  /// for the coordinator.
  private var publishedAhead: Int { max(4, 2 * transport.adapters().count) }
}
