import OtaflashFleet
import OtaflashGATT

/// The coordinator of a run whose workers are other processes.
package struct RunCoordinator: Sendable {
  /// The limits that depend on the workers of the exchange.
  package struct Limits: Sendable {
    /// The number of jobs that may wait for the workers of one site.
    package var publishedAhead: Int
    /// The time for which workers of a site that receive no advertisement of a device may return
    /// its job, before the attempt ends.
    package var search: Duration

    package init(publishedAhead: Int, search: Duration) {
      self.publishedAhead = publishedAhead
      self.search = search
    }
  }

  private let campaign: Campaign
  private let exchange: any JobExchange
  private let ledger: any EventLedger
  private let environment: FleetEnvironment
  private let limits: Limits
  private let commands: (any CommandSource)?
  private let keys: @Sendable (RunDevice) -> SealedKey?
  private let observe: @Sendable ([FleetEvent], FleetRun) -> Void

  /// - Parameters:
  ///   - environment: the clocks and the runner of wave hooks; the coordinator uses nothing else.
  ///   - commands: the commands of operators, for which the run waits; `nil` = `run` also returns
  ///     when only an operator can continue the run.
  ///   - keys: returns the key of a device, sealed for its site.
  ///   - observe: called after events were recorded, and once at the start.
  package init(
    campaign: Campaign, exchange: any JobExchange, ledger: any EventLedger,
    environment: FleetEnvironment, limits: Limits, commands: (any CommandSource)?,
    keys: @escaping @Sendable (RunDevice) -> SealedKey? = { _ in nil },
    observe: @escaping @Sendable ([FleetEvent], FleetRun) -> Void = { _, _ in }
  ) {
    self.campaign = campaign
    self.exchange = exchange
    self.ledger = ledger
    self.environment = environment
    self.limits = limits
    self.commands = commands
    self.keys = keys
    self.observe = observe
  }

  /// Continues the run in the event log until its end.
  ///
  /// - Throws: faults of the storage or the exchange, and `.cancelled`. Workers and their claims
  ///   remain.
  package func run() async throws(FleetEngineFault) -> FleetRun {
    let history: [RecordedEvent]
    do throws(StorageFault) { history = try await ledger.history() } catch { throw .storage(error) }
    let former = FleetRun(history)
    let hooks = WaveHookRunner(campaign, runner: environment.hooks)
    let workersEnded = OneShot<Void>()
    // The workers outlive this process.
    workersEnded.fulfil(())
    var rules = FleetRules(campaign, publishedAhead: limits.publishedAhead)
    rules.search = limits.search
    rules.keys = keys
    let coordinator = Coordinator(
      rules: rules, exchange: exchange, ledger: ledger, commands: commands, waits: true,
      environment: environment, time: RunClock(environment, after: former.lastAt), hooks: hooks,
      adapters: AdapterWatch(), workersEnded: workersEnded, observe: observe)
    return try await withService({ await hooks.work() }) {
      () async -> Result<FleetRun, FleetEngineFault> in
      defer { exchange.close(former.beginning?.id ?? "") }
      do throws(FleetEngineFault) { return .success(try await coordinator.run(former)) } catch {
        return .failure(error)
      }
    }.get()
  }
}
