import OtaflashATT
import OtaflashGATT

/// An application with in-place OTA (`in_place_ota_dfu`): any value that a host writes to OTA
/// Control starts the AppLoader.
final class SilabsApplication: BoardProgram {
  private struct State: Sendable {
    var isLeaving = false
    var end: LinkInstant?
    var isOver = false
  }

  let server: GATTServer
  let advertisement: Advertisement
  let dataPath = DataPath(handle: nil)
  private let firmware: SilabsFirmware
  private let state: Shared<State>

  init(of firmware: SilabsFirmware, others: [LocalService]) {
    let parts = firmware.parts
    self.firmware = firmware
    let state = Shared(State())
    self.state = state
    let requiresBond = firmware.settings.requiresBond
    let control = AttributeValue.written { _, _ in
      guard !requiresBond else { return .silabsRejected }
      state.withLock { $0.isLeaving = true }
      parts.wake()
      return nil
    }
    let table = AttributeTable(
      services: [.genericAccess(name: parts.applicationName), .genericAttribute()] + others + [
        LocalService(
          SilabsUUID.service,
          characteristics: [
            LocalCharacteristic(SilabsUUID.control, properties: .write, value: control)
          ])
      ])
    advertisement = Advertisement(
      id: parts.settings.address.description, name: parts.applicationName, rssi: nil,
      services: [SilabsUUID.service])
    server = GATTServer(table: table, receiveMTU: ATTMTU(clamping: parts.settings.mtu))
  }

  /// The minimum time from the write to the end of the connection.
  private static let leaveTime = Duration.seconds(1)

  /// Waits a second, or five intervals if they are longer, before the device disconnects.
  func poll(at now: LinkInstant) -> Duration? {
    let time = max(Self.leaveTime, firmware.parts.settings.radio.interval.duration * 5)
    return state.withLock { state in
      guard state.isLeaving else { return nil }
      let end = state.end ?? now.advanced(by: time)
      state.end = end
      state.isOver = now >= end
      return state.isOver ? nil : now.duration(to: end)
    }
  }

  var ending: BootEnding? { state.withLock { $0.isOver ? .reset : nil } }

  func leave(_ ending: BootEnding) {
    guard case .reset = ending else { return }
    firmware.enterLoader()
  }
}
