import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashGATT

/// A campaign over doors, independent of their transport.
struct DoorCampaign: Sendable {
  static let image = FirmwareImage(
    name: "app", format: .binary, bytes: (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31) },
    version: FirmwareVersion(1, 3, 0), hardware: .any)

  let campaign: Campaign

  /// Two waves: the first door, then the others.
  init(_ devices: [String]) {
    var campaign = Campaign(
      name: "doors", devices: devices.map { FleetDevice(id: $0) }, images: [nil: "app"],
      waves: [Wave("canary", .count(1)), Wave("rest", .rest)])
    campaign.flash.delta = .never
    campaign.parallel = 2
    self.campaign = campaign
  }

  /// Runs the campaign to its end; returns the run and its recorded events.
  func run(
    over transport: any DeviceTransport, clock: any LinkClock
  ) async throws -> (run: FleetRun, events: [RecordedEvent]) {
    let ledger = MemoryLedger()
    let package = FirmwarePackage(name: "app", kind: .raw, parts: [Self.image])
    // An app uses the wall clock. A test has no wall clock.
    let now: @Sendable () -> WallClockTime = {
      WallClockTime(milliseconds: 1_800_000_000_000).advanced(by: clock.now.elapsed)
    }
    var engine = FleetEngine(
      campaign: campaign, ledger: ledger, transport: transport,
      environment: FleetEnvironment(clock: clock, wall: now, image: { _ in package }))
    engine.waitsForOperator = false
    try await engine.begin(try CampaignPlan(campaign, now: now()), id: "r1")
    return (try await engine.run(), try await ledger.history())
  }
}

/// The connection to a door.
protocol Doorway: Sendable {
  func dial() async throws(ConnectFault) -> any Link
}

/// Doors by their ids, on one adapter.
struct DoorTransport: DeviceTransport {
  let doors: [String: any Doorway]

  func adapters() -> [String] { ["adapter"] }

  func hearing(of device: String) -> [AdapterHearing] { [AdapterHearing(adapter: "adapter")] }

  func connect(
    to device: String, at place: DeviceLocation, on adapter: String
  ) async throws(ConnectFault) -> any Link {
    guard let door = doors[device] else { throw .cancelled }
    return try await door.dial()
  }

  func holding<Value: Sendable>(
    _ device: String, _ body: @Sendable () async -> Value
  ) async throws(DeviceHeldElsewhere) -> Value { await body() }
}
