import OtaflashATT
import OtaflashGATT

/// The Secure DFU boot loader of one boot behind its server.
final class SecureBootLoaderProgram: BoardProgram {
  let server: GATTServer
  let advertisement: Advertisement
  let dataPath: DataPath
  private let firmware: SecureFirmware
  private let unit: DFUUnit<SecureBootLoader>
  private let control: AttributeHandle
  private let wholeWords = WholeWordMTU()

  init(
    _ machine: SecureBootLoader, of firmware: SecureFirmware, name: String,
    address: DeviceAddress, random: SeededRandom
  ) {
    let parts = firmware.parts
    let unit = DFUUnit(machine, with: parts, random: random)
    let table = AttributeTable(
      services: [.genericAccess(name: name), .genericAttribute(), Self.service(of: unit)])
    let control = table.handle(of: SecureUUID.controlPoint)
    (self.firmware, self.unit, self.control) = (firmware, unit, control)
    dataPath = DataPath(handle: table.handle(of: SecureUUID.packet))
    advertisement = Advertisement(
      id: address.description, name: name, rssi: nil, services: [SecureUUID.service])
    server = GATTServer(table: table, receiveMTU: ATTMTU(clamping: parts.settings.mtu)) {
      unit.note($0, control: control)
    }
  }

  private static func service(of unit: DFUUnit<SecureBootLoader>) -> LocalService {
    LocalService(
      SecureUUID.service,
      characteristics: [
        LocalCharacteristic(
          SecureUUID.controlPoint, properties: [.write, .notify], value: unit.controlPoint),
        LocalCharacteristic(
          SecureUUID.packet, properties: .writeWithoutResponse, value: unit.packet),
      ])
  }

  // MARK: The main loop

  func poll(at now: LinkInstant) -> Duration? {
    let (responses, wait) = unit.poll(at: now)
    for response in responses { server.notify(control, response) }
    return wait
  }

  var pendingOperation: FlashOperation? { unit.pendingOperation }

  func flashDone(_ isDone: Bool) { unit.flashDone(isDone) }

  var ending: BootEnding? { unit.ending }

  func leave(_ ending: BootEnding) { firmware.keep(unit.machine.lies) }

  // MARK: ATT_MTU

  func received(_ pdu: ATTPDU) { wholeWords.received(pdu) }

  func altered(_ pdu: ATTPDU) -> ATTPDU { wholeWords.altered(pdu) }
}
