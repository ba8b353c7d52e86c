import OtaflashATT
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate

/// A campaign that is to be tried on simulated boards: all that a run of it depends on.
package struct CampaignSimulation: Sendable {
  package let plan: CampaignPlan
  /// The plan's, or one with other choices; its waves are those of the plan.
  package var campaign: Campaign
  /// The boards that the devices are, and the adapters.
  package var fleet: FleetProfile
  /// By their files' names in the campaign.
  package let packages: [String: FirmwarePackage]
  /// When it begins, for windows.
  package let start: WallClockTime
  /// Where patches find what the boards run.
  package var bases = BaseFinder.none
  /// The campaign would send patches where devices take them, and whole images are counted: what
  /// real devices run, and what patches against it come to, is not known.
  package internal(set) var countsWholeImages = false
  /// The flash that the boards begin with; `nil` = they come from the factory.
  package var storage: SimulatedFleet.Storage?
  /// `nil` = nothing looks on, and the run goes to its end.
  var watch: ForecastWatch?

  /// A device whose id is that of a board of the fleet is that board; where one is not, the first
  /// device is the first board, and so on. Nobody is asked to approve, and a place that devices
  /// stand at is like any other.
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

  /// How a run ended, and what the boards and radios say of it.
  package struct Outcome: Sendable {
    package let run: FleetRun
    package let took: Duration
    /// Of the devices whose boards ever had power.
    package let truth: [FleetDevice.ID: SimulatedFleet.Truth]
    /// For which each adapter's radio carried data.
    package let airTime: [String: Duration]
    package let poweredMost: Int
    package let attempts: Int
  }

  /// The longest that a campaign may take: windows that open once a week are among them.
  private static let limit = Duration.seconds(366 * 86_400)

  /// Runs the campaign in virtual time, on the calling thread. The same seed, the same outcome.
  package func run(seed: UInt64) throws(ForecastFault) -> Outcome {
    let boards = boardsByDevice
    let profile = fleet.drawn(from: seed, boards: boards == nil ? plan.deviceCount : nil)
    let timeline = VirtualTimeline(chance: SeededRandom(seed: seed))
    let fleet = SimulatedFleet(profile, clock: timeline.clock, storage: storage)
    let names = boards ?? namesInOrder(of: profile)
    let transport = SimulatedFleetTransport(fleet) { names[$0] ?? $0 }
    let exchange = QuietExchange(watch)
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

  /// An image's digest is its file's name here.
  private var beginning: [FleetEvent] {
    let digests = Dictionary(uniqueKeysWithValues: packages.keys.map { ($0, $0) })
    return plan.beginning(id: "trial", digest: "", imageDigests: digests)
  }

  // MARK: Who is who

  private var devices: [FleetDevice] { plan.waves.flatMap(\.devices) }

  /// `nil` when a device is no board of the fleet.
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

/// Why there is no forecast.
package enum ForecastFault: Error, Equatable, Sendable {
  /// The run never ended: a window that opens too late, or an error of ours.
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
