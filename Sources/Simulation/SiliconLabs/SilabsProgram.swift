import OtaflashATT
import OtaflashGATT

/// A program that receives a GBL file: the AppLoader, or an application with application OTA.
final class SilabsProgram<Machine: SilabsMachine>: BoardProgram {
  let server: GATTServer
  let advertisement: Advertisement
  let dataPath: DataPath
  private let unit: SilabsUnit<Machine>

  /// - Parameters:
  ///   - service: the UUID of the service with the characteristics.
  ///   - versions: further characteristics of the service.
  ///   - others: further services.
  init(
    _ machine: Machine, _ settings: SilabsSettings, name: String, service: BluetoothUUID,
    versions: [LocalCharacteristic] = [], others: [LocalService] = [], with parts: BoardParts
  ) {
    let unit = SilabsUnit(machine, settings, with: parts)
    self.unit = unit
    let receiver = LocalService(
      service,
      characteristics: [
        LocalCharacteristic(SilabsUUID.control, properties: .write, value: unit.control),
        LocalCharacteristic(
          SilabsUUID.data, properties: [.write, .writeWithoutResponse], value: unit.data),
      ] + versions)
    let table = AttributeTable(
      services: [.genericAccess(name: name), .genericAttribute()] + others + [receiver])
    dataPath = DataPath(handle: table.handle(of: SilabsUUID.data))
    advertisement = Advertisement(
      id: parts.settings.address.description, name: name, rssi: nil, services: [service])
    server = GATTServer(table: table, receiveMTU: ATTMTU(clamping: parts.settings.mtu)) {
      unit.note($0)
    }
  }

  func poll(at now: LinkInstant) -> Duration? { unit.poll(at: now) }
  var pendingOperation: FlashOperation? { unit.pendingOperation }
  func flashDone(_ isDone: Bool) { unit.flashDone(isDone) }
  var ending: BootEnding? { unit.ending }
}
