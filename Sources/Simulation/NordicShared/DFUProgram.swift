import OtaflashATT
import OtaflashGATT

/// A program that consists of a machine of Secure or legacy DFU and its server: a bootloader, or
/// the complete InfiniTime.
final class DFUProgram<Machine: DFUMachine>: BoardProgram {
  let server: GATTServer
  let advertisement: Advertisement
  let dataPath: DataPath
  let alteration: (any PDUAlteration)?
  private let unit: DFUUnit<Machine>
  private let control: AttributeHandle
  private let keep: @Sendable (Machine) -> Void
  private let companion: (any DFUCompanion)?

  /// - Parameters:
  ///   - information: the Device Information Service, if any.
  ///   - others: further services of an application.
  ///   - companion: a further service of an application that sends notifications.
  ///   - writesWholeWords: whether the ATT_MTU is chosen so that packets are complete words.
  ///   - keep: called with the final state of the machine.
  init(
    _ machine: Machine, as service: DFUService, name: String, address: DeviceAddress,
    information: LocalService? = nil, others: [LocalService] = [],
    companion: (any DFUCompanion)? = nil, receiveMTU: ATTMTU, writesWholeWords: Bool,
    keep: @escaping @Sendable (Machine) -> Void = { _ in }, with parts: BoardParts,
    random: SeededRandom
  ) {
    let unit = DFUUnit(machine, with: parts, random: random)
    let table = AttributeTable(
      services: [.genericAccess(name: name), .genericAttribute()]
        + (information.map { [$0] } ?? []) + [service.attributes(of: unit)] + others
        + (companion.map { [$0.attributes] } ?? []))
    let control = table.handle(of: service.control)
    (self.unit, self.control, self.keep, self.companion) = (unit, control, keep, companion)
    alteration = writesWholeWords ? WholeWordMTU() : nil
    dataPath = DataPath(handle: table.handle(of: service.packet))
    advertisement = Advertisement(
      id: address.description, name: name, rssi: nil, services: [service.uuid])
    server = GATTServer(table: table, receiveMTU: receiveMTU) { unit.note($0, control: control) }
    companion?.attach(to: server, table)
  }

  // MARK: The main loop

  func poll(at now: LinkInstant) -> Duration? {
    let (responses, wait) = unit.poll(at: now)
    for response in responses { server.notify(control, response) }
    return wait
  }

  var pendingOperation: FlashOperation? { unit.pendingOperation }

  func flashDone(_ isDone: Bool) { unit.flashDone(isDone) }

  var ending: BootEnding? { unit.ending ?? companion?.ending }

  func leave(_ ending: BootEnding) { keep(unit.machine) }
}

/// A service that an application offers in addition to DFU, and that sends notifications. Safe to
/// use from any task.
protocol DFUCompanion: AnyObject, Sendable {
  var attributes: LocalService { get }

  /// Connects the service to the server that contains its attributes.
  func attach(to server: GATTServer, _ table: AttributeTable)

  /// The reason why the service ends the boot; `nil` while it continues.
  var ending: BootEnding? { get }
}

/// A service with a Control Point and a Packet characteristic.
struct DFUService: Sendable {
  let uuid: BluetoothUUID
  let control: BluetoothUUID
  let packet: BluetoothUUID
  var packetProperties: CharacteristicProperties = .writeWithoutResponse
  /// Additional read-only characteristics.
  var others: [LocalCharacteristic] = []

  fileprivate func attributes<Machine: DFUMachine>(of unit: DFUUnit<Machine>) -> LocalService {
    LocalService(
      uuid,
      characteristics: [
        LocalCharacteristic(control, properties: [.write, .notify], value: unit.controlPoint),
        LocalCharacteristic(packet, properties: packetProperties, value: unit.packet),
      ] + others)
  }
}
