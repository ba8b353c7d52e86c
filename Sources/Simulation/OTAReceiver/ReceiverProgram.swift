import OtaflashATT
import OtaflashGATT

/// The receiver of one boot behind its server.
final class ReceiverProgram: BoardProgram {
  let server: GATTServer
  let advertisement: Advertisement
  let dataPath: DataPath
  private let unit: ReceiverUnit
  private let device: DeviceAttributes
  private let firmware: ReceiverFirmware

  init(
    _ unit: ReceiverUnit, running: SlotImage, of firmware: ReceiverFirmware, with parts: BoardParts
  ) {
    let settings = parts.settings
    let device = DeviceAttributes(
      parts, running: running, unit: unit)
    (self.unit, self.device, self.firmware) = (unit, device, firmware)
    dataPath = DataPath(handle: device.data, overheadOctets: BoardSettings.offsetOctets)
    advertisement = Advertisement(
      id: firmware.address.description, name: parts.applicationName, rssi: nil,
      services: [DeviceUUID.otaService])
    server = GATTServer(table: device.table, receiveMTU: ATTMTU(clamping: settings.mtu)) {
      switch $0 {
      case .connected: unit.connected()
      case .mtuChanged: break
      case .configured(_, device.control, let value): unit.controlConfigured(value.rawValue)
      case .configured(_, device.status, let value): unit.statusConfigured(value.rawValue)
      case .configured: break
      case .confirmed: unit.indicationConfirmed()
      case .disconnected: unit.disconnected()
      }
      parts.wake()
    }
  }

  func poll(at now: LinkInstant) -> Duration? {
    let wait = unit.poll(milliseconds: Self.milliseconds(now))
    while let item = unit.takeOutgoing() {
      switch item {
      case .answer(let bytes): server.indicate(device.control, bytes)
      case .status(let bytes): server.notify(device.status, bytes)
      }
    }
    return wait
  }

  private static func milliseconds(_ now: LinkInstant) -> UInt32 {
    let (seconds, attoseconds) = now.elapsed.components
    return UInt32(truncatingIfNeeded: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
  }

  var pendingOperation: FlashOperation? { unit.pendingOperation }

  func flashDone(_ isDone: Bool) { unit.flashDone(isDone) }

  var ending: BootEnding? { unit.activatedImage == nil ? nil : .activated }

  func leave(_ ending: BootEnding) throws(FlashFault) {
    guard case .activated = ending, let image = unit.activatedImage else { return }
    try firmware.markPending(image)
  }

  func received(_ pdu: ATTPDU) { firmware.received(pdu, by: device) }

  func altered(_ pdu: ATTPDU) -> ATTPDU { firmware.altered(pdu, by: device) }
}
