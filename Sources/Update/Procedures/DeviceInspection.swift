import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// The result of an inspection of a device: its services, its Device Information strings, and the
/// report of its update protocol.
public struct Inspection: Equatable, Sendable {
  /// A service with its characteristics.
  public struct Service: Equatable, Sendable {
    /// The service's type.
    public let uuid: BluetoothUUID
    /// The handles of the service's attributes.
    public let handles: HandleRange
    /// The characteristics, in the order of their handles.
    public let characteristics: [DiscoveredCharacteristic]
  }

  /// The state of the link.
  public let link: LinkReport
  /// The services, in the order of their handles.
  public let services: [Service]
  /// The strings of the Device Information service by characteristic; empty if the device has no
  /// such service.
  public let deviceInformation: [BluetoothUUID: String]
  /// The report of the protocol that an update would use. If no protocol can be chosen, the
  /// report of the first offered protocol. `nil` if the device offers no known protocol, or does
  /// not offer the protocol that the options require.
  public let device: DeviceReport?
  /// The report of the other protocol of a device whose update may use one of two protocols; `nil`
  /// if only one protocol is possible.
  public let alternative: DeviceReport?
  /// The prospects of the specified images, in their order.
  public let prospects: [Prospect]

  /// The preflight decision about an update to one image over this connection.
  public struct Prospect: Equatable, Sendable {
    /// The image.
    public let image: FirmwareImage
    /// The decision, or the fault that would refuse the update.
    public let decision: Result<Preflight, UpdateFault>

    /// Creates the prospect of an image.
    public init(image: FirmwareImage, decision: Result<Preflight, UpdateFault>) {
      self.image = image
      self.decision = decision
    }
  }
}

/// Reads an `Inspection` from a device, without changing anything on the device.
public struct DeviceInspection: Sendable {
  /// The string characteristics of Device Information (0x180A), in display order.
  public static let informationStrings: [(uuid: BluetoothUUID, name: String)] = [
    (BluetoothUUID(0x2A29), "manufacturer"), (BluetoothUUID(0x2A24), "model"),
    (BluetoothUUID(0x2A25), "serial number"), (BluetoothUUID(0x2A27), "hardware"),
    (BluetoothUUID(0x2A26), "firmware"), (BluetoothUUID(0x2A28), "software"),
  ]
  private static let deviceInformation = BluetoothUUID(0x180A)

  /// The options of the update.
  public let options: UpdateOptions
  /// The images to compare with the device.
  public let images: [FirmwareImage]

  private let known: ProtocolChoice

  /// Creates an inspection.
  ///
  /// - Parameters:
  ///   - options: the options of the update that the decisions refer to; the inspection itself
  ///     writes nothing.
  ///   - images: the images of one package; empty to inspect only the device.
  ///   - protocols: the known protocols, as for `FirmwareUpdate`.
  public init(
    options: UpdateOptions = UpdateOptions(), images: [FirmwareImage] = [],
    protocols: [any UpdateSession.Type] = UpdateProtocol.all
  ) {
    self.options = options
    self.images = images
    known = ProtocolChoice(protocols: protocols)
  }

  /// The inspection as a command for a peripheral's queue.
  public var command: Command<PeripheralTurn, Inspection, UpdateFault> {
    Command("inspect") { (turn) async throws(UpdateFault) -> Inspection in
      let client = try await turn.connect(requestingMTU: options.mtu)
      return try await inspect(client, on: turn.clock)
    }
  }

  /// Runs the inspection over a new link.
  public func run(
    on dialer: Dialer, clock: any LinkClock
  ) async throws(UpdateFault) -> Inspection {
    try await command.run(on: dialer, clock: clock)
  }

  private func inspect(
    _ client: GATTClient, on clock: any LinkClock
  ) async throws(UpdateFault) -> Inspection {
    let services: [Inspection.Service]
    let information: [BluetoothUUID: String]
    do throws(GATTFault) {
      services = try await self.services(of: client)
      information = try await strings(of: client, services)
    } catch {
      throw .gatt(.connect, error)
    }
    let link = LinkReport(of: client)
    let survey = try await survey(client, on: clock)
    return Inspection(
      link: link, services: services, deviceInformation: information, device: survey.device,
      alternative: survey.alternative, prospects: survey.prospects)
  }

  private func services(
    of client: GATTClient
  ) async throws(GATTFault) -> [Inspection.Service] {
    var found: [Inspection.Service] = []
    for service in try await client.services() {
      found.append(
        Inspection.Service(
          uuid: service.uuid, handles: service.handles,
          characteristics: try await client.characteristics(of: service)))
    }
    return found
  }

  private func strings(
    of client: GATTClient, _ services: [Inspection.Service]
  ) async throws(GATTFault) -> [BluetoothUUID: String] {
    var strings: [BluetoothUUID: String] = [:]
    let wanted = Set(Self.informationStrings.map(\.uuid))
    for service in services where service.uuid == Self.deviceInformation {
      for entry in service.characteristics
      where wanted.contains(entry.uuid) && entry.properties.contains(.read) {
        do throws(GATTFault) {
          strings[entry.uuid] = String(decoding: try await client.read(entry), as: UTF8.self)
        } catch .refused {
          // A string is omitted if reading it requires a permission.
        } catch .insecure {
          // A string is also omitted if reading it requires pairing.
        }
      }
    }
    return strings
  }

  private struct Survey {
    var device: DeviceReport?
    var alternative: DeviceReport?
    var prospects: [Inspection.Prospect] = []
  }

  /// Returns the reports of the protocols that an update may use, and the decisions for the images.
  private func survey(
    _ client: GATTClient, on clock: any LinkClock
  ) async throws(UpdateFault) -> Survey {
    let offered = try await known.offered(by: client)
    let choice = choice(among: offered)
    let spoken: ProtocolChoice.Candidates
    switch choice {
    case .success(let chosen): spoken = chosen
    case .failure(let fault):
      let asked = options.updateProtocol
      let other = offered.first { asked == nil || $0.updateProtocol == asked }
      guard let other else {
        return Survey(
          prospects: images.map { Inspection.Prospect(image: $0, decision: .failure(fault)) })
      }
      spoken = ProtocolChoice.Candidates(first: other)
    }
    let context = UpdateContext(
      clock: clock, options: options, tally: UpdateProgressState(), observe: { _ in })
    let opened = try await spoken.open(on: client, context, for: images)
    let session = opened.session
    var other = opened.leaving?.device
    if other == nil, let alternative = spoken.alternative {
      other = try await ChosenProtocol(alternative).open(on: client, context).device
    }
    var prospects: [Inspection.Prospect] = []
    for image in images {
      let decision: Result<Preflight, UpdateFault> =
        switch choice {
        case .success: await decision(on: image, session)
        case .failure(let fault): .failure(fault)
        }
      prospects.append(Inspection.Prospect(image: image, decision: decision))
    }
    return Survey(device: session.device, alternative: other, prospects: prospects)
  }

  private func decision(
    on image: FirmwareImage, _ session: any UpdateSession
  ) async -> Result<Preflight, UpdateFault> {
    do throws(UpdateFault) { return .success(try await session.check(image)) } catch {
      return .failure(error)
    }
  }

  private func choice(
    among offered: [any UpdateSession.Type]
  ) -> Result<ProtocolChoice.Candidates, UpdateFault> {
    do throws(UpdateFault) {
      return .success(
        try known.choose(for: images, among: offered, asked: options.updateProtocol))
    } catch {
      return .failure(error)
    }
  }
}
