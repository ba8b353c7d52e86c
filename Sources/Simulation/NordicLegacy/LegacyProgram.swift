import OtaflashATT
import OtaflashGATT

/// Legacy DFU behind a server: a boot loader, or InfiniTime as a whole.
final class LegacyProgram<Machine: DFUMachine>: BoardProgram {
  let server: GATTServer
  let advertisement: Advertisement
  let dataPath: DataPath
  private let unit: DFUUnit<Machine>
  private let control: AttributeHandle
  private let wholeWords: WholeWordMTU?

  /// - Parameter information: the Device Information that it tells, if any.
  init(
    _ machine: Machine, of firmware: LegacyFirmware, name: String, address: DeviceAddress,
    information: LocalService?, random: SeededRandom
  ) {
    let parts = firmware.parts
    let variant = firmware.settings.variant
    let unit = DFUUnit(machine, with: parts, random: random)
    let service = LocalService.legacyDFU(
      of: unit,
      packet: variant == .adafruit ? [.write, .writeWithoutResponse] : .writeWithoutResponse)
    let table = AttributeTable(
      services: [.genericAccess(name: name), .genericAttribute()]
        + (information.map { [$0] } ?? []) + [service])
    let control = table.handle(of: LegacyUUID.controlPoint)
    (self.unit, self.control) = (unit, control)
    wholeWords = variant == .adafruit ? WholeWordMTU() : nil
    dataPath = DataPath(handle: table.handle(of: LegacyUUID.packet))
    advertisement = Advertisement(
      id: address.description, name: name, rssi: nil, services: [LegacyUUID.service])
    server = GATTServer(table: table, receiveMTU: firmware.receiveMTU) {
      unit.note($0, control: control)
    }
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

  // MARK: ATT_MTU

  func received(_ pdu: ATTPDU) { wholeWords?.received(pdu) }

  func altered(_ pdu: ATTPDU) -> ATTPDU { wholeWords?.altered(pdu) ?? pdu }
}

extension LocalService {
  /// Version 0.8: SDK 11, with an init packet.
  private static let legacyDFUVersion: [UInt8] = [0x08, 0x00]

  fileprivate static func legacyDFU<Machine: DFUMachine>(
    of unit: DFUUnit<Machine>, packet: CharacteristicProperties
  ) -> LocalService {
    LocalService(
      LegacyUUID.service,
      characteristics: [
        LocalCharacteristic(
          LegacyUUID.controlPoint, properties: [.write, .notify], value: unit.controlPoint),
        LocalCharacteristic(LegacyUUID.packet, properties: packet, value: unit.packet),
        .readOnly(LegacyUUID.version, legacyDFUVersion),
      ])
  }
}
