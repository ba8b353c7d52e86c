import Glibc
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetForecast
import OtaflashSimulation

/// The size of a swarm.
struct SwarmScale: Sendable {
  let devices: Int
  let adapters: Int
  let badPercent: Int
  /// The number of concurrent transfers on an adapter; `nil` = automatic.
  let places: Int?
}

/// One campaign over simulated boards in virtual time.
struct FleetSwarm {
  struct Outcome {
    let run: FleetRun
    /// Devices whose reported outcome differs from the state of their board.
    let wrong: [DeviceProgress]
    let lines: [String]
  }

  /// An image that cannot be compressed, so that it is sent completely.
  static let image = {
    var random = SeededRandom(seed: 1)
    return FirmwareImage(
      name: "app", format: .binary,
      bytes: (0..<65_536).map { _ in UInt8(truncatingIfNeeded: random.next()) },
      version: FirmwareVersion(1, 3, 0), hardware: nil)
  }()

  private let scale: SwarmScale
  private let trial: CampaignSimulation

  init(_ scale: SwarmScale) throws {
    self.scale = scale
    let fleet = try FleetProfile(
      parsing: "\(scale.devices)?kinds=fast&loss=1%&slot=96K&adapters=\(scale.adapters)"
        + "&revert=\(scale.badPercent)%")
    let waves: [(String, Wave.Members)] = [
      ("canary", .percent(1)), ("tenth", .percent(10)), ("rest", .rest),
    ]
    trial = try Self.trial(
      fleet, waves: waves, withoutResponse: true, places: scale.places)
  }

  /// A campaign without limits at which it would stop.
  static func trial(
    _ fleet: FleetProfile, waves: [(String, Wave.Members)], withoutResponse: Bool, places: Int?,
    sending image: FirmwareImage = FleetSwarm.image
  ) throws -> CampaignSimulation {
    let lenient = WaveThresholds(successPercent: 0, stop: .percent(100), seenPercent: 0)
    var campaign = Campaign(
      name: "swarm", devices: fleet.boards.map { FleetDevice(id: $0) }, images: [nil: "app.bin"],
      waves: waves.map { Wave($0.0, $0.1, thresholds: lenient) })
    campaign.flash.allowUnknown = true
    campaign.flash.writing = withoutResponse ? .withoutResponse : .withResponse
    campaign.parallel = places
    return CampaignSimulation(
      try CampaignPlan(campaign, now: WallClockTime(milliseconds: 0)), on: fleet,
      packages: ["app.bin": FirmwarePackage(name: "app", kind: .raw, parts: [image])])
  }

  func run() throws -> Outcome {
    let began = ContinuousClock.now
    let outcome = try trial.run(seed: 1)
    let wall = ContinuousClock.now - began
    let wrong = outcome.run.devices.filter { device in
      let runsNew = outcome.truth[device.device.id]?.version == Self.image.version
      return (device.ending?.count == .succeeded) != runsNew
    }
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    let processor =
      Duration.seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
      + .microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
    let air = outcome.airTime.values.reduce(Duration.zero, +) / Double(scale.adapters)
    let lines = [
      "\(scale.devices) devices on \(scale.adapters) adapters, \(scale.badPercent) % revert",
      "ended: \(outcome.run.control), \(outcome.run.eventCount) events",
      "virtual time \(outcome.took), wall time \(wall)",
      "air time of data: \(Int(air / outcome.took * 100)) % of the virtual time",
      "CPU time per device, including its board: \(processor / scale.devices)",
      "peak memory \(usage.ru_maxrss / 1024) MiB, at most \(outcome.poweredMost) boards powered",
      "outcomes that differ from the board: \(wrong.count)",
    ]
    return Outcome(run: outcome.run, wrong: wrong, lines: lines)
  }
}
