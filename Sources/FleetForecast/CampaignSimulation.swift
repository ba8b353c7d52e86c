import OtaflashATT
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate

/// A simulation of a campaign on simulated boards, with all inputs of a run.
package struct CampaignSimulation: Sendable {
  package let plan: CampaignPlan
  /// The campaign of the plan, or a changed campaign with the same waves.
  package var campaign: Campaign
  /// The boards of the devices, and the adapters.
  package var fleet: FleetProfile
  /// The images by their names in the campaign.
  package let packages: [String: FirmwarePackage]
  /// The start of the run, which matters for transfer windows.
  package let start: WallClockTime
  /// The source of base images for patches.
  package var bases = BaseFinder.none
  /// Whether complete images are counted even if the campaign would send patches, because the
  /// running images of real devices, and the sizes of patches against these images, are unknown.
  package internal(set) var countsWholeImages = false
  /// The initial flash of the boards; `nil` = factory state.
  package var storage: SimulatedFleet.Storage?
  /// The watch that counts the work of the forecast, and ends runs at the time limit; `nil` = the
  /// run has no time limit.
  var watch: ForecastWatch?

  /// Creates a simulation. If every device has the id of a board of the fleet, each device is
  /// simulated by its board; otherwise devices and boards are matched by order. Approvals are not
  /// required, a failure limit always ends the run, and one worker serves all sites.
  package init(
    _ plan: CampaignPlan, on fleet: FleetProfile, packages: [String: FirmwarePackage],
    start: WallClockTime = WallClockTime(milliseconds: 0)
  ) {
    self.plan = plan
    self.fleet = fleet
    self.packages = packages
    self.start = start
    campaign = plan.campaign
    for index in campaign.waves.indices {
      campaign.waves[index].needsApproval = false
      campaign.waves[index].thresholds.stopAction = nil
    }
  }

  /// The final state of a run, and of its boards and radios.
  package struct Outcome: Sendable {
    package let run: FleetRun
    package let took: Duration
    /// The states of devices whose boards were powered at least once.
    package let truth: [FleetDevice.ID: SimulatedFleet.Truth]
    /// The time for which each adapter's radio carried data.
    package let airTime: [String: Duration]
    package let poweredMost: Int
    package let attempts: Int
  }

  /// The maximum duration of a campaign, long enough for weekly windows.
  private static let limit = Duration.seconds(366 * 86_400)

  /// Runs the campaign in virtual time, on the calling thread. The same seed yields the same
  /// outcome.
  package func run(seed: UInt64) throws(ForecastFault) -> Outcome {
    let boards = boardsByDevice
    let profile = fleet.drawn(from: seed, boards: boards == nil ? plan.deviceCount : nil)
    let timeline = VirtualTimeline(chance: SeededRandom(seed: seed))
    let fleet = SimulatedFleet(profile, clock: timeline.clock, storage: storage)
    let names = boards ?? namesInOrder(of: profile)
    let transport = SimulatedFleetTransport(fleet) { names[$0] ?? $0 }
    let exchange = QuietExchange(watch, timeline.clock)
    let result: Result<FleetRun, FleetEngineFault>
    do throws(SimulationFault) {
      result = try timeline.run(limit: Self.limit) { clock in
        await withService {
          await fleet.run()
        } _: {
          await self.run(on: transport, exchange, clock)
        }
      }
    } catch {
      throw .simulation(error)
    }
    do throws(FleetEngineFault) {
      let truth = fleet.truth
      return Outcome(
        run: try result.get(), took: timeline.clock.now.elapsed,
        truth: names.compactMapValues { truth[$0] },
        airTime: Dictionary(
          uniqueKeysWithValues: fleet.adapters.map { ($0, fleet.airTime(of: $0)) }),
        poweredMost: fleet.poweredMost, attempts: exchange.attempts)
    } catch {
      throw .engine(error)
    }
  }

  private func run(
    on transport: SimulatedFleetTransport, _ exchange: QuietExchange, _ clock: VirtualClock
  ) async -> Result<FleetRun, FleetEngineFault> {
    let (packages, start) = (packages, start)
    let engine = FleetEngine(
      campaign: campaign, exchange: exchange, ledger: MemoryLedger(), transport: transport,
      environment: FleetEnvironment(
        clock: clock, wall: { start.advanced(by: clock.now.elapsed) }, image: { packages[$0] },
        bases: bases, hooks: HooksLeftOut()))
    do throws(FleetEngineFault) {
      try await engine.begin(beginning)
      return .success(try await engine.run())
    } catch {
      return .failure(error)
    }
  }

  /// The first events. In them, the file name of an image replaces its digest.
  private var beginning: [FleetEvent] {
    let digests = Dictionary(uniqueKeysWithValues: packages.keys.map { ($0, $0) })
    return plan.beginning(id: "trial", digest: "", imageDigests: digests)
  }

  // MARK: Devices and boards

  private var devices: [FleetDevice] { plan.waves.flatMap(\.devices) }

  /// The boards by device; `nil` if a device is not a board of the fleet.
  private var boardsByDevice: [FleetDevice.ID: String]? {
    let ids = devices.map(\.id)
    guard ids.allSatisfy({ fleet.number(of: $0) != nil }) else { return nil }
    return Dictionary(uniqueKeysWithValues: ids.map { ($0, $0) })
  }

  private func namesInOrder(of profile: FleetProfile) -> [FleetDevice.ID: String] {
    Dictionary(
      uniqueKeysWithValues: devices.enumerated().map { ($1.id, profile.id(of: $0)) })
  }
}

/// The reason why there is no forecast.
package enum ForecastFault: Error, Equatable, Sendable {
  /// The run did not end: a window opens too late, or otaflash has a bug.
  case simulation(SimulationFault)
  case engine(FleetEngineFault)
  case cancelled
}

extension ForecastFault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .simulation(let fault): "the simulated campaign did not end: \(fault)"
    case .engine(let fault): "the simulated campaign did not end: \(fault)"
    case .cancelled: "the forecast was interrupted"
    }
  }
}
