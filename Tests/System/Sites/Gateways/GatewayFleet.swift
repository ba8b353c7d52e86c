#if Sites
import OtaflashBlueZ
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashFleetForecast
import OtaflashGATT
import OtaflashNATS
import OtaflashSimulation
import OtaflashSites

/// Many gateways in one process, each with its own connection to the server and its own radio. The
/// boards of a site are in range of all gateways of the site.
struct GatewayFleet {
  /// The URLs of the servers.
  let servers: [String]
  let gateways: Int
  let parallel: Int
  let image: FirmwareImage
  private let sites: [SimulatedFleet]
  private let watch = WriterWatch()
  private let clock: any LinkClock
  private let base = EventLoopClock()

  /// - Parameters:
  ///   - boards: the number of boards of each site.
  ///   - settings: the keys of the boards, as in `sim-fleet:`.
  ///   - speed: simulated seconds per second.
  init(
    servers: [String], gateways: Int, sites: Int, boards: Int, settings: String, speed: Int,
    parallel: Int, image: FirmwareImage
  ) throws {
    self.servers = servers
    self.gateways = gateways
    self.parallel = parallel
    self.image = image
    let clock = AcceleratedClock(base, speed: speed)
    self.clock = clock
    let adapters = max(1, gateways / sites)
    self.sites = try (0..<sites).map { number in
      SimulatedFleet(
        try FleetProfile(
          parsing: "\(boards)?seed=\(number + 1)&adapters=\(adapters)&hears=\(adapters)\(settings)"),
        clock: clock)
    }
  }

  /// Executes jobs until the task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      for site in sites { group.addTask { await site.run() } }
      for number in 0..<gateways { group.addTask { await runGateway(number) } }
    }
  }

  private func runGateway(_ number: Int) async {
    let (site, name) = (number % sites.count, "gateway-\(number + 1)")
    do {
      let connection = try await NATSConnection(
        NATSOptions(servers: servers, name: name), clock: ContinuousClock())
      let (clock, base, image) = (clock, base, image)
      let package = FirmwarePackage(name: image.name, kind: .raw, parts: [image])
      let transport = GatewayTransport(
        gateway: name, adapter: "hci\(number / sites.count)",
        base: SimulatedFleetTransport(sites[site], board: Self.board), watch: watch)
      // Leases are measured in real time, and the waits of links in that of the boards.
      let environment = FleetEnvironment(
        clock: clock, wall: { WallClockTime(milliseconds: 0) },
        elapsed: { base.now.elapsed }, image: { _ in package })
      let pool = WorkerPool(
        worker: FleetWorker(name: name, site: "site-\(site + 1)"), parallel: parallel,
        exchange: try JetStreamExchange(try JetStream(connection), clock: base),
        transport: transport, environment: environment)
      try await pool.run()
      await connection.close()
    } catch {
      print("\(name) ended: \(error)")
    }
  }

  /// The board of a device: the last component of its path.
  private static func board(of device: FleetDevice.ID) -> String {
    device.split(separator: "/").last.map(String.init) ?? device
  }

  /// A JSON object with the numbers of boards that run the image, of boards with overlapping
  /// writers, and of boards to which several gateways wrote.
  var summary: String {
    let version = image.version
    let updated = sites.map { site in site.truth.values.count { $0.version == version } }
    return
      "{\"updated\": \(updated.reduce(0, +)), \"overlaps\": \(watch.overlaps), "
      + "\"shared\": \(watch.shared)}"
  }
}
#endif
