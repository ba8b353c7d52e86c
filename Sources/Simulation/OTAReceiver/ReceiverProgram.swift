import OtaflashATT
import OtaflashGATT

/// The receiver of one boot, with its GATT server.
final class ReceiverProgram: BoardProgram {
  let server: GATTServer
  let advertisement: Advertisement
  let dataPath: DataPath
  let alteration: (any PDUAlteration)?
  private let receiver: Shared<ReceiverMachine>
  private let device: DeviceAttributes
  private let firmware: ReceiverFirmware
  private let console: BoardConsole?

  init(
    _ receiver: Shared<ReceiverMachine>, running: SlotImage, of firmware: ReceiverFirmware,
    with parts: BoardParts
  ) {
    let settings = parts.settings
    console = BoardConsole(of: parts, runs: running.version.description)
    let device = DeviceAttributes(parts, running: running, receiver: receiver, console)
    (self.receiver, self.device, self.firmware) = (receiver, device, firmware)
    alteration = firmware.alteration(by: device)
    dataPath = DataPath(handle: device.data, overheadBytes: BoardSettings.offsetBytes)
    advertisement = Advertisement(
      id: firmware.address.description, name: parts.applicationName, rssi: nil,
      services: [DeviceUUID.otaService])
    server = GATTServer(table: device.table, receiveMTU: ATTMTU(clamping: settings.mtu)) { event in
      receiver.withLock { receiver in
        switch event {
        case .connected: receiver.connected()
        case .mtuChanged: break
        case .configured(_, device.control, let value): receiver.controlConfigured(value.rawValue)
        case .configured(_, device.status, let value): receiver.statusConfigured(value.rawValue)
        case .configured: break
        case .confirmed: receiver.indicationConfirmed()
        case .disconnected: receiver.disconnected()
        }
      }
      parts.wake()
    }
  }

  func poll(at now: LinkInstant) -> Duration? {
    let (outgoing, wait) = receiver.withLock { $0.poll(at: now) }
    for item in outgoing {
      switch item {
      case .answer(let bytes): server.indicate(device.control, bytes)
      case .status(let bytes): server.notify(device.status, bytes)
      }
    }
    return [wait, console?.poll(at: now, over: server, device.table)].compactMap(\.self).min()
  }

  var pendingOperation: FlashOperation? { receiver.withLock { $0.operation } }

  var computationTime: Duration { receiver.withLock { $0.decodingTime } }

  func flashDone(_ isDone: Bool) { receiver.withLock { $0.flashDone(isDone) } }

  var ending: BootEnding? { activatedImage == nil ? nil : .activated }

  private var activatedImage: SlotImage? { receiver.withLock { $0.activation } }

  func leave(_ ending: BootEnding) throws(FlashFault) {
    guard case .activated = ending, let image = activatedImage else { return }
    try firmware.markPending(image)
  }
}
