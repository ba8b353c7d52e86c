#if Sites
import Foundation
import OtaflashBlueZ
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashFleetStore
import OtaflashGATT
import Synchronization

/// A campaign whose workers end each job immediately, with the events of an update. The time is
/// that of the coordinator, its event log and the exchange.
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

  private func coordinate(_ environment: FleetEnvironment) async throws -> FleetRun {
    // An engine with workers in its process publishes fewer jobs ahead.
    let ahead = exchange.outlivesCoordinator ? scale.ahead : 4
    return try await RunCoordinator(
      campaign: campaign, exchange: exchange, ledger: ledger, environment: environment,
      limits: RunCoordinator.Limits(publishedAhead: ahead, search: .seconds(60)), commands: nil
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
#endif
