import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// What a device offers: its services, its Device Information strings, and what its update protocol
/// says. Reads only; nothing on the device changes.
public struct Inspection: Equatable, Sendable {
  public struct Service: Equatable, Sendable {
    public let uuid: BluetoothUUID
    public let handles: HandleRange
    public let characteristics: [DiscoveredCharacteristic]
  }

  public let link: LinkReport
  public let services: [Service]
  /// The strings of the Device Information service by characteristic, where there is one.
  public let deviceInformation: [BluetoothUUID: String]
  /// `nil` when the device speaks no update protocol that is known here.
  public let device: DeviceReport?
}

/// Reads an `Inspection` from a device.
public struct DeviceInspection: Sendable {
  /// The string characteristics of Device Information (0x180A), in the order people read them.
  public static let informationStrings: [(uuid: BluetoothUUID, name: String)] = [
    (BluetoothUUID(0x2A29), "manufacturer"), (BluetoothUUID(0x2A24), "model"),
    (BluetoothUUID(0x2A25), "serial number"), (BluetoothUUID(0x2A27), "hardware"),
    (BluetoothUUID(0x2A26), "firmware"), (BluetoothUUID(0x2A28), "software"),
  ]
  private static let deviceInformation = BluetoothUUID(0x180A)

  public let options: UpdateOptions

  public init(options: UpdateOptions = UpdateOptions()) { self.options = options }

  /// The inspection as a command for a peripheral's queue.
  public var command: Command<PeripheralTurn, Inspection, UpdateFault> {
    Command("inspect") { (turn) async throws(UpdateFault) -> Inspection in
      let client = try await turn.connect(requestingMTU: options.mtu)
      return try await inspect(client, on: turn.clock)
    }
  }

  /// Runs the inspection over a link of its own.
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
    return Inspection(
      link: LinkReport(of: client), services: services, deviceInformation: information,
      device: try await report(client, services, on: clock))
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
          // A string that needs a right we do not have is not shown.
        } catch .insecure {
          // Nor is one that would need a pairing.
        }
      }
    }
    return strings
  }

  private func report(
    _ client: GATTClient, _ services: [Inspection.Service], on clock: any LinkClock
  ) async throws(UpdateFault) -> DeviceReport? {
    let offered = UpdateProtocol.offered(by: services.map(\.uuid))
    guard let first = options.updateProtocol ?? offered.first, offered.contains(first) else {
      return nil
    }
    let context = UpdateContext(
      clock: clock, options: options, tally: UpdateTally(), observe: { _ in })
    return try await first.session.open(on: client, context).device
  }
}
