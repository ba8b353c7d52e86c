import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// A program of a user, or pairing mode; both have the Partial Flashing Service.
final class MicrobitBoardProgram: BoardProgram {
  let server: GATTServer
  let advertisement: Advertisement
  let dataPath: DataPath
  private let unit: MicrobitUnit
  private let control: AttributeHandle
  private let buttonless: Shared<ButtonlessState>
  private let departure: Shared<Departure>
  /// The handle of the Buttonless DFU characteristic; `nil` on V1.
  private let entry: AttributeHandle?
  private let answerTime: Duration
  private let keep: @Sendable (Ending) -> Void

  /// The restart of V1 into its bootloader, which a host has requested.
  private struct Departure: Sendable {
    static let request: UInt8 = 1

    var isRequested = false
    var end: LinkInstant?
    var isOver = false
  }

  /// The program that runs after the end of this program.
  enum Ending: Equatable, Sendable {
    case program, pairing, bootloader
  }

  /// - Parameters:
  ///   - isSilent: whether the program does not use Bluetooth.
  ///   - keep: called with the program that runs next.
  init(
    _ machine: MicrobitMachine, isSilent: Bool,
    keep: @escaping @Sendable (Ending) -> Void, with parts: BoardParts,
    random: SeededRandom
  ) {
    let settings = machine.settings
    let buttonless = Shared(ButtonlessState(entry: .bonded))
    let departure = Shared(Departure())
    (self.buttonless, self.departure) = (buttonless, departure)
    let unit = MicrobitUnit(machine, with: parts, random: random)
    (self.unit, self.keep, answerTime) = (unit, keep, parts.answerTime)
    let service = LocalService(
      MicrobitUUID.service,
      characteristics: [
        LocalCharacteristic(
          MicrobitUUID.control, properties: [.writeWithoutResponse, .notify], value: unit.value,
          security: parts.settings.security.needed)
      ])
    let table = AttributeTable(services: [
      .genericAccess(name: parts.applicationName), .genericAttribute(),
      .deviceInformation([0x2A24: "BBC micro:bit \(settings.board.rawValue)"]),
      Self.dfuService(of: settings.board, buttonless, departure, parts), service,
    ])
    control = table.handle(of: MicrobitUUID.control)
    let entry = settings.board == .v2 ? table.handle(of: SecureUUID.bondedButtonless) : nil
    self.entry = entry
    dataPath = DataPath(handle: control, overheadBytes: 4)
    advertisement = Advertisement(
      id: isSilent ? "off" : parts.settings.address.description, name: parts.applicationName,
      rssi: nil, services: isSilent ? [] : [MicrobitUUID.service])
    server = GATTServer(
      table: table, receiveMTU: ATTMTU(clamping: parts.settings.mtu)
    ) { event in
      unit.note(event)
      if let entry { buttonless.withLock { $0.note(event, control: entry) } }
      parts.wake()
    }
  }

  /// Returns the service that starts the bootloader.
  private static func dfuService(
    of board: MicrobitBoard, _ state: Shared<ButtonlessState>, _ departure: Shared<Departure>,
    _ parts: BoardParts
  ) -> LocalService {
    switch board {
    case .v1:
      let value = AttributeValue.written { bytes, _ in
        defer { parts.wake() }
        if bytes.first == Departure.request { departure.withLock { $0.isRequested = true } }
        return nil
      }
      return LocalService(
        MicrobitUUID.dfuOfV1,
        characteristics: [
          LocalCharacteristic(
            MicrobitUUID.dfuControlOfV1, properties: .write, value: value,
            security: parts.settings.security.needed)
        ])
    case .v2:
      let value = AttributeValue.written { bytes, _ in
        defer { parts.wake() }
        return state.withLock { $0.written(bytes) }
      }
      return LocalService(
        SecureUUID.service,
        characteristics: [
          LocalCharacteristic(
            SecureUUID.bondedButtonless, properties: [.write, .indicate], value: value,
            security: .encryption)
        ])
    }
  }

  // MARK: The main loop

  func poll(at now: LinkInstant) -> Duration? {
    let (notices, wait) = unit.poll(at: now)
    for notice in notices { server.notify(control, notice) }
    guard let entry else {
      let departing = departure.withLock { departure -> Duration? in
        guard departure.isRequested else { return nil }
        // The response to the write is sent first.
        let end = departure.end ?? now.advanced(by: answerTime)
        departure.end = end
        departure.isOver = now >= end
        return departure.isOver ? nil : now.duration(to: end)
      }
      return [wait, departing].compactMap(\.self).min()
    }
    let (responses, leaving) = buttonless.withLock { state in
      defer { state.responses.removeAll() }
      return (state.responses, state.poll(at: now, answerTime))
    }
    for response in responses { server.indicate(entry, response) }
    return [wait, leaving].compactMap(\.self).min()
  }

  var pendingOperation: FlashOperation? { unit.pendingOperation }

  func flashDone(_ isDone: Bool) { unit.flashDone(isDone) }

  var ending: BootEnding? {
    unit.ending ?? (entersBootloader ? .reset : nil)
  }

  private var entersBootloader: Bool {
    buttonless.withLock { $0.isOver } || departure.withLock { $0.isOver }
  }

  func leave(_ ending: BootEnding) {
    if unit.request == .restartIntoPairing {
      keep(.pairing)
    } else if entersBootloader {
      keep(.bootloader)
    } else {
      keep(.program)
    }
  }
}
