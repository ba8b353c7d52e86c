import OtaflashATT
import OtaflashGATT

/// An application. With `entry=buttonless`, the application has the DFU service of SDK 11, which
/// only starts the bootloader.
final class LegacyApplication: BoardProgram {
  /// Version 0.1 identifies an application, not a bootloader.
  private static let version: [UInt8] = [0x01, 0x00]
  private static let startApplication: [UInt8] = [0x01, 0x04]

  private struct State: Sendable {
    var isNotifying = false
    var isLeaving = false
    var end: LinkInstant?
    var isOver = false
  }

  let server: GATTServer
  let advertisement: Advertisement
  let dataPath = DataPath(handle: nil)
  private let firmware: LegacyFirmware
  private let state: Shared<State>

  init(of firmware: LegacyFirmware, information: LocalService?, at address: DeviceAddress) {
    let parts = firmware.parts
    self.firmware = firmware
    let state = Shared(State())
    self.state = state
    let hasService = firmware.settings.entry == .buttonless
    var services = [
      LocalService.genericAccess(name: parts.applicationName), .genericAttribute(),
    ]
    if let information { services.append(information) }
    if hasService { services.append(Self.service(state, parts)) }
    services += LocalService.battery(of: parts.settings)
    let table = AttributeTable(services: services)
    let control = table.valueHandle(of: LegacyUUID.controlPoint)
    advertisement = Advertisement(
      id: address.description, name: parts.applicationName, rssi: nil,
      services: hasService ? [LegacyUUID.service] : [])
    server = GATTServer(table: table, receiveMTU: firmware.receiveMTU) { event in
      state.withLock { state in
        switch event {
        case .configured(_, control, let value):
          state.isNotifying = value.contains(.notification)
        case .disconnected: state.isNotifying = false
        case .connected, .mtuChanged, .configured, .confirmed: break
        }
      }
    }
  }

  private static func service(_ state: Shared<State>, _ parts: BoardParts) -> LocalService {
    let control = AttributeValue.written { bytes, _ in
      defer { parts.wake() }
      return state.withLock { state in
        guard state.isNotifying else { return .clientConfigurationImproperlyConfigured }
        if bytes == startApplication { state.isLeaving = true }
        return nil
      }
    }
    return LocalService(
      LegacyUUID.service,
      characteristics: [
        LocalCharacteristic(
          LegacyUUID.controlPoint, properties: [.write, .notify], value: control),
        .readOnly(LegacyUUID.version, version),
      ])
  }

  // MARK: The main loop

  /// Sends no answer, but waits until the response to the write was sent.
  func poll(at now: LinkInstant) -> Duration? {
    let answerTime = firmware.parts.answerTime
    return state.withLock { state in
      guard state.isLeaving else { return nil }
      let end = state.end ?? now.advanced(by: answerTime)
      state.end = end
      state.isOver = now >= end
      return state.isOver ? nil : now.duration(to: end)
    }
  }

  var ending: BootEnding? { state.withLock { $0.isOver ? .reset : nil } }

  func leave(_ ending: BootEnding) {
    guard case .reset = ending else { return }
    firmware.enterBootloader()
  }
}
