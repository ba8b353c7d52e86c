#if Sites
import Foundation
import OtaflashBlueZ
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashFleetStore
import OtaflashGATT
import Synchronization

/// A campaign whose workers end each job immediately, with the events of an update. The time is that
/// of the coordinator, its event log and the exchange.
struct Dispatch {
  struct Scale {
    var devices = 2000
    var sites = 20
    /// The number of concurrent jobs of each site.
    var workers = 4
    /// The number of jobs that may wait at one site, for workers of other processes.
    var ahead = 16
  }

  struct Result {
    let jobs: Int
    let took: Duration

    var jobsPerSecond: Int { Int((Double(jobs) / (took / .seconds(1))).rounded()) }
  }

  private enum Part {
    case run(FleetRun)
    case workers
  }

  let scale: Scale
  /// The exchange of the coordinator.
  let exchange: any JobExchange
  /// The connection of a site's workers to the exchange.
  let connection: @Sendable (_ site: Int) -> any JobExchange
  let ledger: any EventLedger

  static func site(_ number: Int) -> String { "site-\(number % 1_000_000)" }

  func run() async throws -> Result {
    let clock = EventLoopClock()
    let environment = FleetEnvironment(clock: clock, wall: { .sample }, image: { _ in nil })
    try await ledger.append(
      CampaignPlan(campaign, now: .sample).beginning(
        id: "dispatch", digest: "", imageDigests: ["app.bin": "app.bin"]), at: .sample)
    let began = clock.now
    let run = try await withThrowingTaskGroup(of: Part.self, returning: FleetRun?.self) { group in
      group.addTask { .run(try await coordinate(environment)) }
      for site in 0..<scale.sites {
        for number in 0..<scale.workers {
          group.addTask {
            try await work(FleetWorker(name: "\(site)-\(number)", site: Self.site(site)), site)
            return .workers
          }
        }
      }
      for try await case .run(let run) in group {
        group.cancelAll()
        return run
      }
      return nil
    }
    let succeeded = run?.devices.count { $0.ending == .updated } ?? 0
    precondition(
      succeeded == scale.devices,
      "\(succeeded) devices succeeded: \(String(describing: run?.control))")
    return Result(jobs: succeeded, took: began.duration(to: clock.now))
  }

  /// Coordinates the run as the programs do: with workers in the same process, or in others.
  private func coordinate(_ environment: FleetEnvironment) async throws -> FleetRun {
    guard exchange.outlivesCoordinator else {
      return try await FleetEngine(
        campaign: campaign,
        exchange: WithoutWorkers(base: exchange, clock: environment.clock), ledger: ledger,
        transport: NoDevices(), environment: environment
      ).run()
    }
    return try await RunCoordinator(
      campaign: campaign, exchange: exchange, ledger: ledger, environment: environment,
      limits: RunCoordinator.Limits(publishedAhead: scale.ahead, search: .seconds(60)),
      commands: nil
    ).run()
  }

  private var campaign: Campaign {
    Campaign(
      name: "dispatch",
      devices: (0..<scale.devices).map {
        FleetDevice(id: "unix:/board-\($0)", site: Self.site($0 % scale.sites))
      }, images: [nil: "app.bin"], waves: [Wave("all", .rest)])
  }

  /// Executes the jobs of a site until the task is cancelled.
  private func work(_ worker: FleetWorker, _ site: Int) async throws {
    let exchange = connection(site)
    while !Task.isCancelled {
      do throws(ExchangeFault) {
        guard
          let claim = try await exchange.claim(
            for: worker, lease: .seconds(45), waitingUpTo: .seconds(1))
        else { continue }
        try await update(claim, on: exchange)
      } catch .notRecorded where Task.isCancelled {
        return
      } catch .unavailable where Task.isCancelled {
        return
      }
    }
  }

  /// The calls of an update.
  private func update(
    _ claim: JobClaim, on exchange: any JobExchange
  ) async throws(ExchangeFault) {
    let (device, attempt) = (claim.job.id.device, claim.job.id.attempt)
    try await exchange.report(
      claim, .devicePlaced(device: device, attempt: attempt, adapter: "hci0"))
    try await exchange.report(claim, .transferBegan(device: device, attempt: attempt, offset: 0))
    try await exchange.report(claim, .deviceActivating(device: device, attempt: attempt))
    try await exchange.recorded(claim)
    try await exchange.finish(
      claim,
      .updated(
        UpdateFigures(
          from: nil, to: nil, proof: "read-back", bytes: 1, uploadMilliseconds: 1, resumes: 0)))
  }
}

extension WallClockTime {
  fileprivate static let sample = WallClockTime(milliseconds: 1_700_000_000_000)
}

/// The exchange for an engine whose own workers receive no job.
private struct WithoutWorkers: JobExchange {
  let base: any JobExchange
  let clock: any LinkClock

  var outlivesCoordinator: Bool { base.outlivesCoordinator }

  func claim(
    for worker: FleetWorker, lease: Duration, waitingUpTo wait: Duration
  ) async throws(ExchangeFault) -> JobClaim? {
    await clock.pause(for: wait)
    return nil
  }

  func claims(of worker: FleetWorker) async throws(ExchangeFault) -> [JobClaim] { [] }
  func renew(_ claim: JobClaim, lease: Duration) async throws(ExchangeFault) -> ClaimStanding {
    try await base.renew(claim, lease: lease)
  }
  func report(_ claim: JobClaim, _ event: FleetEvent) async throws(ExchangeFault) {
    try await base.report(claim, event)
  }
  func recorded(_ claim: JobClaim) async throws(ExchangeFault) { try await base.recorded(claim) }
  func progress(_ claim: JobClaim, _ progress: JobProgress) { base.progress(claim, progress) }
  func finish(_ claim: JobClaim, _ ending: AttemptEnding) async throws(ExchangeFault) {
    try await base.finish(claim, ending)
  }
  func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault) {
    try await base.release(claim, reason)
  }
  func open(_ run: String) async throws(ExchangeFault) { try await base.open(run) }
  func publish(_ job: UpdateJob) async throws(ExchangeFault) { try await base.publish(job) }
  func cancel(_ jobs: [UpdateJob.ID]) async throws(ExchangeFault) { try await base.cancel(jobs) }
  func facts(
    of run: String, after number: Int, limit: Int
  ) async throws(ExchangeFault) -> [JobFact] {
    try await base.facts(of: run, after: number, limit: limit)
  }
  func arrival(of run: String, after number: Int) async {
    await base.arrival(of: run, after: number)
  }
  func progress(of run: String) async -> [JobProgress] { await base.progress(of: run) }
  func close(_ run: String) { base.close(run) }
  func forget(_ run: String) async throws(ExchangeFault) { try await base.forget(run) }
}

/// The transport of an engine without devices. It has an adapter, because a run without one pauses.
private struct NoDevices: DeviceTransport {
  func adapters() -> [String] { ["none"] }
  func hearing(of device: FleetDevice.ID) -> [AdapterHearing] { [] }
  func connect(
    to device: FleetDevice.ID, at place: DeviceLocation, on adapter: String
  ) async throws(ConnectFault) -> any Link {
    throw .deviceNotFound(cause: "There are no devices.", remedy: .tryAgain)
  }
  func holding<Value: Sendable>(
    _ device: FleetDevice.ID, _ body: @Sendable () async -> Value
  ) async throws(DeviceHeldElsewhere) -> Value { await body() }
}
#endif
