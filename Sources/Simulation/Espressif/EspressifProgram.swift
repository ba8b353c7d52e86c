import OtaflashATT
import OtaflashGATT

/// An application with Espressif's OTA service.
final class EspressifProgram: BoardProgram {
  let server: GATTServer
  let advertisement: Advertisement
  let dataPath: DataPath
  private let unit: EspressifUnit
  private let variant: EspressifSettings.Variant
  private let firmware: AttributeHandle
  private let command: AttributeHandle?

  init(
    _ receiver: EspressifReceiver, information: LocalService?, with parts: BoardParts,
    random: SeededRandom
  ) {
    let settings = receiver.settings
    let unit = EspressifUnit(receiver, with: parts, random: random)
    let table = AttributeTable(
      services: [.genericAccess(name: parts.applicationName), .genericAttribute()]
        + (information.map { [$0] } ?? [])
        + [Self.service(of: unit, settings, security: parts.settings.security.needed)]
        + LocalService.battery(of: parts.settings))
    firmware = table.handle(of: EspressifUUID.firmware)
    command = settings.isLookalike ? nil : table.handle(of: EspressifUUID.command)
    (self.unit, variant) = (unit, settings.variant)
    dataPath = DataPath(handle: firmware, overheadBytes: 3)
    // The example of ble_ota on NimBLE advertises the Alert Notification Service.
    let advertised =
      settings.variant == .nimble ? BluetoothUUID(0x1811) : EspressifUUID.service
    advertisement = Advertisement(
      id: parts.settings.address.description, name: parts.applicationName, rssi: nil,
      services: [advertised])
    server = GATTServer(table: table, receiveMTU: ATTMTU(clamping: parts.settings.mtu)) {
      unit.note($0)
    }
  }

  private static func service(
    of unit: EspressifUnit, _ settings: EspressifSettings, security: AttributeSecurity
  ) -> LocalService {
    let properties = settings.properties
    var characteristics = [
      LocalCharacteristic(
        EspressifUUID.firmware, properties: properties, value: unit.firmware,
        security: security)
    ]
    if settings.hasProgress {
      characteristics.append(
        LocalCharacteristic(
          EspressifUUID.progress, properties: [.read, .indicate], value: .fixed([0, 0])))
    }
    if !settings.isLookalike {
      characteristics.append(
        LocalCharacteristic(
          EspressifUUID.command, properties: properties, value: unit.command, security: security))
    }
    if settings.hasProgress {
      characteristics.append(
        LocalCharacteristic(
          EspressifUUID.customer, properties: properties,
          value: .stored([], sizeMaximum: 512)))
    }
    return LocalService(EspressifUUID.service, characteristics: characteristics)
  }

  // MARK: The main loop

  func poll(at now: LinkInstant) -> Duration? {
    let (answers, wait) = unit.poll(at: now)
    for answer in answers {
      switch answer {
      case .firmware(let bytes): send(bytes, on: firmware)
      case .command(let bytes): if let command { send(bytes, on: command) }
      }
    }
    return wait
  }

  private func send(_ bytes: [UInt8], on handle: AttributeHandle) {
    switch variant {
    case .nimble:
      if unit.hasSubscribed(to: handle) { server.notifyUnasked(handle, bytes) }
    case .bluedroid, .nimbleOTA: server.indicate(handle, bytes)
    case .raw: server.notify(handle, bytes)
    case .bleOTA:
      server.indicate(handle, bytes)
      server.notify(handle, bytes)
    }
  }

  var pendingOperation: FlashOperation? { unit.pendingOperation }

  func flashDone(_ isDone: Bool) { unit.flashDone(isDone) }

  var ending: BootEnding? { unit.ending }
}
