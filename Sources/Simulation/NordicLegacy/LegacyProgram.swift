import OtaflashATT
import OtaflashGATT

/// Legacy DFU behind a server: the boot loader of SDK 11, or InfiniTime as a whole.
final class LegacyProgram: BoardProgram {
  /// Version 0.8: SDK 11, with an init packet.
  private static let version: [UInt8] = [0x08, 0x00]

  let server: GATTServer
  let advertisement: Advertisement
  let dataPath: DataPath
  private let unit: DFUUnit<LegacyBootLoader>
  private let control: AttributeHandle

  /// - Parameter information: the Device Information of an application that takes updates itself.
  init(
    _ machine: LegacyBootLoader, name: String, address: DeviceAddress, information: LocalService?,
    random: SeededRandom
  ) {
    let parts = machine.parts
    let unit = DFUUnit(machine, with: parts, random: random)
    let table = AttributeTable(
      services: [.genericAccess(name: name), .genericAttribute()]
        + (information.map { [$0] } ?? []) + [Self.service(of: unit)])
    let control = table.handle(of: LegacyUUID.controlPoint)
    (self.unit, self.control) = (unit, control)
    dataPath = DataPath(handle: table.handle(of: LegacyUUID.packet))
    advertisement = Advertisement(
      id: address.description, name: name, rssi: nil, services: [LegacyUUID.service])
    server = GATTServer(table: table, receiveMTU: ATTMTU(clamping: parts.profile.mtu)) {
      unit.note($0, control: control)
    }
  }

  private static func service(of unit: DFUUnit<LegacyBootLoader>) -> LocalService {
    LocalService(
      LegacyUUID.service,
      characteristics: [
        LocalCharacteristic(
          LegacyUUID.controlPoint, properties: [.write, .notify], value: unit.controlPoint),
        LocalCharacteristic(
          LegacyUUID.packet, properties: .writeWithoutResponse, value: unit.packet),
        .readOnly(LegacyUUID.version, version),
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
}
