import Glibc
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashGATT
import OtaflashSimulation

/// How large a swarm is.
struct SwarmScale: Sendable {
  let devices: Int
  let adapters: Int
  let badPercent: Int
  /// Transfers side by side on an adapter; `nil` = learned.
  let places: Int?

  /// The same devices for the same share.
  func isBad(_ device: FleetDevice.ID) -> Bool {
    (Int(device.dropFirst()) ?? 0) * 7919 % 100 < badPercent
  }
}

/// One campaign over simulated boards in virtual time.
struct FleetSwarm {
  struct Outcome {
    let run: FleetRun
    /// Devices that ended otherwise than they say.
    let wrong: [DeviceProgress]
    let lines: [String]
  }

  static let image = FirmwareImage(
    name: "app", format: .binary, bytes: (0..<65_536).map { UInt8(truncatingIfNeeded: $0 / 3) },
    version: FirmwareVersion(1, 3, 0), hardware: nil)

  private let scale: SwarmScale
  private let campaign: Campaign

  init(_ scale: SwarmScale) {
    self.scale = scale
    let lenient = WaveThresholds(successPercent: 0, stop: .percent(100), seenPercent: 0)
    var campaign = Campaign(
      name: "swarm", devices: (0..<scale.devices).map { FleetDevice(id: "d\($0)") },
      images: [nil: "app.bin"],
      waves: [
        Wave("canary", .percent(1), thresholds: lenient),
        Wave("tenth", .percent(10), thresholds: lenient),
        Wave("rest", .rest, thresholds: lenient),
      ])
    campaign.flash.allowUnknown = true
    campaign.flash.withoutResponse = true
    campaign.parallel = scale.places
    self.campaign = campaign
  }

  func run() throws -> Outcome {
    let began = ContinuousClock.now
    let timeline = VirtualTimeline()
    let good = try SimulationProfile(parsing: "fast?loss=1%&slot=96K")
    let bad = try SimulationProfile(parsing: "fast?loss=1%&slot=96K&reverts")
    let scale = scale
    let fleet = LazyFleet(adapters: scale.adapters, clock: timeline.clock) { device in
      var profile = scale.isBad(device) ? bad : good
      profile.seed = UInt64(device.dropFirst()) ?? 1
      return profile
    }
    let plan = try CampaignPlan(campaign, now: FleetTime(milliseconds: 0))
    let run = try timeline.run(limit: .seconds(10_000_000)) {
      clock -> Result<FleetRun, FleetEngineFault> in
      await withTaskGroup(of: Void.self) { power in
        power.addTask { await fleet.run() }
        defer { power.cancelAll() }
        return await Self.run(plan, on: fleet, clock)
      }
    }.get()
    let virtual = timeline.clock.now.elapsed
    return outcome(run, fleet, virtual: virtual, wall: ContinuousClock.now - began)
  }

  private static func run(
    _ plan: CampaignPlan, on fleet: LazyFleet, _ clock: any LinkClock
  ) async -> Result<FleetRun, FleetEngineFault> {
    var engine = FleetEngine(
      campaign: plan.campaign, exchange: MemoryExchange(), ledger: MemoryLedger(), reach: fleet,
      surroundings: FleetSurroundings(
        clock: clock, wall: { FleetTime(milliseconds: clock.now.elapsed.wholeMilliseconds) },
        image: { _ in FirmwarePackage(name: "app", kind: .raw, parts: [image]) }))
    engine.observe = { events, _ in
      for case .deviceSettled(let device, _) in events { fleet.release(device) }
    }
    do throws(FleetEngineFault) {
      try await engine.begin(
        plan.beginning(id: "r", digest: "d", imageDigests: ["app.bin": "i"]))
      return .success(try await engine.run())
    } catch {
      return .failure(error)
    }
  }

  private func outcome(
    _ run: FleetRun, _ fleet: LazyFleet, virtual: Duration, wall: Duration
  ) -> Outcome {
    let truth = fleet.truth
    let wrong = run.devices.filter { device in
      let runsNew = truth[device.device.id]?.version == Self.image.version
      return (device.ending?.count == .succeeded) != runsNew
    }
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    let processor =
      Duration.seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
      + .microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
    let lines = [
      "\(scale.devices) devices on \(scale.adapters) adapters, \(scale.badPercent) % bad",
      "ended: \(run.control), \(run.eventCount) events",
      "virtual time \(virtual), wall time \(wall)",
      "processor time \(processor / scale.devices) a device, with its board",
      "memory \(usage.ru_maxrss / 1024) MiB at most, \(fleet.poweredMost) boards with power",
      "ended otherwise than they say: \(wrong.count)",
    ]
    return Outcome(run: run, wrong: wrong, lines: lines)
  }
}
