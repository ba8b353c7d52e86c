import OtaflashATT
import OtaflashGATT

/// An application with Telink's OTA service.
final class TelinkProgram: BoardProgram {
  let server: GATTServer
  let advertisement: Advertisement
  let dataPath: DataPath
  private let unit: TelinkUnit
  private let data: AttributeHandle

  init(
    _ machine: TelinkServer, information: LocalService?, with parts: BoardParts,
    random: SeededRandom
  ) {
    let settings = machine.settings
    let unit = TelinkUnit(machine, with: parts, random: random)
    self.unit = unit
    let properties: CharacteristicProperties =
      settings.variant == .legacy
      ? [.read, .writeWithoutResponse] : [.read, .write, .writeWithoutResponse, .notify]
    let service = LocalService(
      settings.service,
      characteristics: [
        LocalCharacteristic(
          settings.dataUUID, properties: properties, value: unit.value,
          security: parts.settings.security.needed)
      ])
    let table = AttributeTable(
      services: [.genericAccess(name: parts.applicationName), .genericAttribute()]
        + (information.map { [$0] } ?? []) + [service] + LocalService.battery(of: parts.settings))
    data = table.handle(of: settings.dataUUID)
    dataPath = DataPath(handle: data, overheadBytes: 4)
    advertisement = Advertisement(
      id: parts.settings.address.description, name: parts.applicationName, rssi: nil,
      services: [settings.service])
    server = GATTServer(
      table: table, receiveMTU: ATTMTU(clamping: parts.settings.mtu)
    ) { unit.note($0) }
  }

  // MARK: The main loop

  func poll(at now: LinkInstant) -> Duration? {
    let (notices, wait) = unit.poll(at: now)
    for notice in notices { server.notify(data, notice) }
    return wait
  }

  var pendingOperation: FlashOperation? { unit.pendingOperation }

  func flashDone(_ isDone: Bool) { unit.flashDone(isDone) }

  var ending: BootEnding? { unit.ending }
}
