#if Fleet
import OtaflashBlueZ
import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashFleetHooks
import OtaflashFleetStore
import OtaflashGATT
import OtaflashUpdate

/// Starts or continues one run of a campaign in this process.
package struct CampaignRunner: Sendable {
  private let campaign: LoadedCampaign
  private let run: KeptRun
  private let last: WallClockTime
  private let store: FleetStore
  private let packages: [String: FirmwarePackage]
  private let parallel: Int?
  private let adapters: Set<UInt16>?
  private let session: Session

  /// - Parameters:
  ///   - started: the run.
  ///   - parallel: the number of transfers per adapter; `nil` = the number in the campaign.
  ///   - adapters: the numbers of the adapters to use; `nil` = all adapters that are on.
  package init(
    _ started: FleetStart.Started, of campaign: LoadedCampaign, in store: FleetStore,
    parallel: Int?, adapters: Set<UInt16>?, session: Session
  ) {
    self.campaign = campaign
    run = started.run
    last = started.last
    packages = started.packages
    self.store = store
    self.parallel = parallel
    self.adapters = adapters
    self.session = session
  }

  /// The adapters and devices with their clock.
  private enum World: Sendable {
    case real(AdapterTransport)
    case simulated(FleetBoards)
  }

  /// Works until the run has ended, or until it requires an operator and this process does not
  /// prompt.
  package func perform() async throws(CommandFault) -> FleetRun {
    let records = try StateStore.open(session)
    let run = try await perform(with: records)
    // The running images are the bases of the next campaign's patches.
    for package in packages.values { records.keep(package) }
    return run
  }

  private func perform(with records: StateStore) async throws(CommandFault) -> FleetRun {
    let result: Result<FleetRun, FleetEngineFault>
    switch try world() {
    case .real(let transport):
      let clock = EventLoopClock()
      result = try await withTaskExecutor { () async throws(CommandFault) in
        try await transport.serve { await self.work(on: transport, clock, records, wall: { .now }) }
      }
    case .simulated(let boards):
      result = await withTaskExecutorPreference(EventLoop.shared) {
        await withService({ await boards.transport.fleet.run() }) {
          await self.work(on: boards.transport, boards.clock, records, wall: boards.wall)
        }
      }
    }
    do throws(FleetEngineFault) { return try result.get() } catch {
      throw .fleet(FleetFault(error, in: run.id))
    }
  }

  private func withTaskExecutor<Value: Sendable>(
    _ body: @Sendable () async throws(CommandFault) -> Value
  ) async throws(CommandFault) -> Value {
    try await withTaskExecutorPreference(EventLoop.shared) { () async throws(CommandFault) in
      try await body()
    }
  }

  private func world() throws(CommandFault) -> World {
    if let profile = campaign.simulation {
      return .simulated(try FleetBoards(profile, of: run.id, since: last, in: session))
    }
    let devices = campaign.plan.waves.flatMap { $0.devices.map(\.id) }
    return .real(AdapterTransport(devices, on: adapters, in: session))
  }

  private enum Part: Sendable {
    case run(Result<FleetRun, FleetEngineFault>)
    case hooks
    case display
    case devices
  }

  private func work(
    on transport: any DeviceTransport, _ clock: any LinkClock, _ records: StateStore,
    wall: @escaping @Sendable () -> WallClockTime
  ) async -> Result<FleetRun, FleetEngineFault> {
    let display = FleetDisplay(
      session.console, session.updates, campaign.plan, clock: clock, wall: wall,
      head: { [store, run] in
        // If the store cannot be read, the next recorded event reports the error.
        do throws(StorageFault) { return try store.head(of: run.id) } catch { return nil }
      })
    let processes = ProcessHooks(in: OutputFile.folder(of: campaign.path))
    let hooks = RunHooks(
      campaign.plan.campaign, of: run, in: store, runner: processes, session.console)
    let devices = CampaignDevices(records)
    var engine = engine(on: transport, clock, records, wall, display, processes)
    engine.observe = {
      display.observe($0, $1)
      hooks.observe($0)
      devices.observe($0, $1)
    }
    let running = engine
    return await withTaskGroup(
      of: Part.self, returning: Result<FleetRun, FleetEngineFault>.self
    ) { group in
      group.addTask {
        do throws(FleetEngineFault) { return .run(.success(try await running.run())) } catch {
          return .run(.failure(error))
        }
      }
      group.addTask {
        await hooks.work()
        return .hooks
      }
      group.addTask {
        await display.run()
        return .display
      }
      group.addTask {
        await devices.work(clock)
        return .devices
      }
      var result = Result<FleetRun, FleetEngineFault>.failure(.cancelled)
      for await part in group {
        switch part {
        case .run(let ended):
          result = ended
          hooks.finish()
          devices.finish()
          if case .failure = ended { group.cancelAll() }
        // The display ends last.
        case .hooks: group.cancelAll()
        case .display, .devices: break
        }
      }
      return result
    }
  }

  private func engine(
    on transport: any DeviceTransport, _ clock: any LinkClock, _ records: StateStore,
    _ wall: @escaping @Sendable () -> WallClockTime, _ display: FleetDisplay,
    _ processes: ProcessHooks
  ) -> FleetEngine {
    var choices = campaign.plan.campaign
    choices.parallel = parallel ?? choices.parallel
    let (packages, keys) = (packages, campaign.keys)
    var engine = FleetEngine(
      campaign: choices, ledger: store.ledger(of: run.id), transport: transport,
      environment: FleetEnvironment(
        clock: clock, wall: wall, elapsed: { BootTime.elapsed }, image: { packages[$0] },
        key: { keys[$0] },
        bases: records.bases(besides: nil),
        hooks: processes,
        observe: { display.observe($0, $1) }, notice: { display.notice($0) }))
    engine.commands = store.commands(of: run.id)
    engine.waitsForOperator = !session.global.noInput
    return engine
  }
}

extension FleetFault {
  fileprivate init(_ fault: FleetEngineFault, in run: String) {
    self =
      switch fault {
      case .storage(let fault): .store(fault)
      case .cancelled: .interrupted(run: run)
      case .exchange(let words): .failed(words: "run \(run) cannot continue: \(words)")
      }
  }
}
#endif
