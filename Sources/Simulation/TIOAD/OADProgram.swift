import OtaflashATT
import OtaflashGATT

/// An application with TI's OAD service.
final class OADProgram: BoardProgram {
  let server: GATTServer
  let advertisement: Advertisement
  let dataPath: DataPath
  private let unit: OADUnit
  private let identify: AttributeHandle
  private let control: AttributeHandle

  init(
    _ machine: OADServer, information: LocalService?, with parts: BoardParts, random: SeededRandom
  ) {
    let unit = OADUnit(machine, with: parts, random: random)
    self.unit = unit
    let needed = parts.settings.security.needed
    let both: CharacteristicProperties = [.write, .writeWithoutResponse, .notify]
    let service = LocalService(
      OADUUID.service,
      characteristics: [
        LocalCharacteristic(
          OADUUID.identify, properties: both, value: unit.value(of: .identify), security: needed),
        LocalCharacteristic(
          OADUUID.block, properties: both, value: unit.value(of: .block), security: needed),
        LocalCharacteristic(
          OADUUID.control, properties: [.writeWithoutResponse, .notify],
          value: unit.value(of: .control), security: needed),
      ])
    let table = AttributeTable(
      services: [.genericAccess(name: parts.applicationName), .genericAttribute()]
        + (information.map { [$0] } ?? []) + [service] + LocalService.battery(of: parts.settings))
    let identify = table.handle(of: OADUUID.identify)
    self.identify = identify
    control = table.handle(of: OADUUID.control)
    dataPath = DataPath(handle: table.handle(of: OADUUID.block), overheadBytes: 4)
    advertisement = Advertisement(
      id: parts.settings.address.description, name: parts.applicationName, rssi: nil,
      services: [OADUUID.service])
    server = GATTServer(
      table: table, receiveMTU: ATTMTU(clamping: parts.settings.mtu)
    ) { unit.note($0, identify: identify) }
  }

  // MARK: The main loop

  func poll(at now: LinkInstant) -> Duration? {
    let (notices, wait) = unit.poll(at: now)
    for notice in notices {
      switch notice.target {
      case .identify: server.notify(identify, notice.bytes)
      case .block, .control: server.notify(control, notice.bytes)
      }
    }
    return wait
  }

  var pendingOperation: FlashOperation? { unit.pendingOperation }

  func flashDone(_ isDone: Bool) { unit.flashDone(isDone) }

  var ending: BootEnding? { unit.isOver ? .activated : nil }
}
