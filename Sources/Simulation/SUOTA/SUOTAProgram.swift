import OtaflashATT
import OtaflashGATT

/// An application with the SUOTA service.
final class SUOTAProgram: BoardProgram {
  let server: GATTServer
  let advertisement: Advertisement
  let dataPath: DataPath
  private let unit: SUOTAUnit
  private let status: AttributeHandle

  init(
    _ machine: SUOTAServer, information: LocalService?, with parts: BoardParts,
    random: SeededRandom
  ) {
    let settings = machine.settings
    let uuids = settings.uuids
    let unit = SUOTAUnit(machine, with: parts, random: random)
    self.unit = unit
    let security = parts.settings.security.needed
    func characteristic(
      _ uuid: BluetoothUUID, _ properties: CharacteristicProperties, _ value: AttributeValue
    ) -> LocalCharacteristic {
      LocalCharacteristic(uuid, properties: properties, value: value, security: security)
    }
    var characteristics = [
      characteristic(uuids.memoryDevice, [.read, .write], unit.memoryDevice),
      characteristic(uuids.pins, [.read, .write], unit.pins),
      characteristic(uuids.memoryInfo, .read, unit.memoryInfo),
      characteristic(uuids.patchLength, [.read, .write], unit.patchLength),
      characteristic(uuids.patchData, [.read, .write, .writeWithoutResponse], unit.patchData),
      characteristic(uuids.status, [.read, .notify], unit.status),
    ]
    if settings.reportsSizes {
      characteristics += [
        characteristic(uuids.version, .read, .fixed([13])),
        characteristic(
          uuids.dataSize, .read, .fixed(UInt16(settings.dataSize).littleEndianBytes)),
        characteristic(
          uuids.mtu, .read,
          .computed { .success(UInt16($0.mtu.bytes).littleEndianBytes) }),
      ]
    }
    let service = LocalService(settings.service, characteristics: characteristics)
    let table = AttributeTable(
      services: [.genericAccess(name: parts.applicationName), .genericAttribute()]
        + (information.map { [$0] } ?? []) + [service] + LocalService.battery(of: parts.settings))
    dataPath = DataPath(handle: table.handle(of: uuids.patchData))
    status = table.handle(of: uuids.status)
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
    for notice in notices { server.notify(status, notice) }
    return wait
  }

  var pendingOperation: FlashOperation? { unit.pendingOperation }

  func flashDone(_ isDone: Bool) { unit.flashDone(isDone) }

  var ending: BootEnding? { unit.ending }
}
