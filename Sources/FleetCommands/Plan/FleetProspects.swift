#if Fleet
import OtaflashBlueZ
import OtaflashDevices
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashFleetHost
import OtaflashGATT
import OtaflashUpdate
import Synchronization

/// Determines for each device of a campaign whether the device would be updated. Sends no image.
struct FleetProspects: Sendable {
  enum Prospect: Sendable {
    case current
    case update(from: FirmwareVersion?)
    case refused(String)
    /// The device does not meet the conditions of the campaign.
    case skipped(String)
    case unreachable(String)

    var name: String {
      switch self {
      case .current: "already-current"
      case .update: "would-flash"
      case .refused: "refused"
      case .skipped: "skipped"
      case .unreachable: "unreachable"
      }
    }

    var words: String {
      switch self {
      case .current: "already runs it"
      case .update(let from): from.map { "from \($0)" } ?? "the image would be sent"
      case .refused(let words): "refused: \(words)"
      case .skipped(let words): "skipped: \(words)"
      case .unreachable(let words): "not reached: \(words)"
      }
    }
  }

  /// The number of concurrent queries. A query is short, and additional queries would wait for the
  /// same adapter.
  private static let atOnce = 4

  private let campaign: LoadedCampaign
  private let bases: BaseFinder
  private let session: Session

  init(_ campaign: LoadedCampaign, _ session: Session) throws(CommandFault) {
    self.campaign = campaign
    self.session = session
    bases = try StateStore.open(session).bases(besides: nil)
  }

  func look() async throws(CommandFault) -> [FleetDevice.ID: Prospect] {
    let devices = campaign.plan.waves.flatMap(\.devices)
    guard campaign.simulation == nil else {
      session.console.note("simulated boards exist only during a run; no device can be checked")
      return [:]
    }
    let adapters: Set<UInt16>? = session.global.adapterNumber.map { [$0] }
    let transport = AdapterTransport(devices.map(\.id), on: adapters, in: session)
    return try await transport.serve {
      await withTaskExecutorPreference(EventLoop.shared) {
        await self.look(at: devices, on: transport)
      }
    }
  }

  private func look(
    at devices: [FleetDevice], on transport: AdapterTransport
  ) async -> [FleetDevice.ID: Prospect] {
    await withTaskGroup(of: (FleetDevice.ID, Prospect).self) { group in
      var prospects: [FleetDevice.ID: Prospect] = [:]
      for (index, device) in devices.enumerated() {
        if index >= Self.atOnce, let (id, prospect) = await group.next() {
          prospects[id] = prospect
        }
        group.addTask { (device.id, await self.look(at: device, on: transport)) }
      }
      for await (id, prospect) in group { prospects[id] = prospect }
      return prospects
    }
  }

  private func look(at device: FleetDevice, on transport: AdapterTransport) async -> Prospect {
    guard let file = campaign.plan.campaign.image(for: device),
      let package = campaign.images[file]?.package,
      let adapter = Self.best(transport.hearing(of: device.id))
    else { return .unreachable("no adapter receives its advertisements") }
    let conditions = DeviceConditions(campaign.plan.campaign.requirements)
    var options = UpdateOptions(
      campaign.plan.campaign.flash, key: campaign.keys[device.id], bases: bases)
    options.isDryRun = true
    options.beforeTransfer = { (device, client) async throws(UpdateFault) in
      try await conditions.check(device, over: client)
    }
    let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
      try await transport.connect(to: device.id, at: place, on: adapter)
    })
    let update = FirmwareUpdate(package: package, options: options)
    do throws(DeviceHeldElsewhere) {
      return try await transport.holding(device.id) {
        do throws(UpdateFault) {
          return Prospect(try await update.run(on: dialer, clock: EventLoopClock()))
        } catch {
          if let refusal = conditions.refusal { return .skipped(refusal) }
          return Prospect(error)
        }
      }
    } catch {
      return .unreachable("another process uses the device")
    }
  }

  private static func best(_ hearing: [AdapterHearing]) -> String? {
    hearing.max { ($0.rssi ?? .min) < ($1.rssi ?? .min) }?.adapter
  }
}

extension FleetProspects.Prospect {
  fileprivate init(_ result: UpdateResult) {
    switch result.outcome {
    case .alreadyCurrent: self = .current
    case .wouldFlash, .flashed, .restarted: self = .update(from: result.from)
    }
  }

  fileprivate init(_ fault: UpdateFault) {
    switch fault.party {
    case .device, .user: self = .refused(fault.summary)
    case .link, .host: self = .unreachable(fault.summary)
    }
  }
}
#endif
