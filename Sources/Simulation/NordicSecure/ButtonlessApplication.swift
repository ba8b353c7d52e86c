import OtaflashATT
import OtaflashGATT

/// An application. Unless only a button starts the bootloader, the application has a Buttonless DFU
/// characteristic, and resets into the bootloader on request.
final class ButtonlessApplication: BoardProgram {
  let server: GATTServer
  let advertisement: Advertisement
  let dataPath = DataPath(handle: nil)
  private let firmware: SecureFirmware
  private let state: Shared<ButtonlessState>
  /// The handle of the Buttonless DFU characteristic; `nil` if only a button starts the bootloader.
  private let control: AttributeHandle?

  init(of firmware: SecureFirmware, runs image: SlotImage, at address: DeviceAddress) {
    let parts = firmware.parts
    let settings = firmware.settings
    self.firmware = firmware
    let state = Shared(ButtonlessState(entry: settings.entry))
    self.state = state
    var services = [
      LocalService.genericAccess(name: parts.applicationName), .genericAttribute(),
    ]
    if settings.hasDeviceInformation {
      services.append(
        .deviceInformation([
          0x2A29: "Nordic Semiconductor", 0x2A26: firmware.revision(of: image),
        ]))
    }
    if let service = Self.service(of: settings.entry, state, parts) { services.append(service) }
    services += LocalService.battery(of: parts.settings)
    let table = AttributeTable(services: services)
    let control = Self.characteristic(of: settings.entry).map { table.handle(of: $0) }
    self.control = control
    advertisement = Advertisement(
      id: address.description, name: parts.applicationName, rssi: nil,
      services: control == nil ? [] : [Self.serviceUUID(of: settings.entry)])
    server = GATTServer(table: table, receiveMTU: ATTMTU(clamping: parts.settings.mtu)) { event in
      state.withLock { $0.note(event, control: control) }
      parts.wake()
    }
  }

  private static func characteristic(of entry: SecureBootloaderSettings.Entry) -> BluetoothUUID? {
    switch entry {
    case .buttonless: SecureUUID.buttonless
    case .bonded: SecureUUID.bondedButtonless
    case .experimental: SecureUUID.experimental
    case .button: nil
    }
  }

  static func serviceUUID(of entry: SecureBootloaderSettings.Entry) -> BluetoothUUID {
    entry == .experimental ? SecureUUID.experimental : SecureUUID.service
  }

  private static func service(
    of entry: SecureBootloaderSettings.Entry, _ state: Shared<ButtonlessState>,
    _ parts: BoardParts
  ) -> LocalService? {
    guard let characteristic = characteristic(of: entry) else { return nil }
    let value = AttributeValue.written { bytes, _ in
      defer { parts.wake() }
      return state.withLock { $0.written(bytes) }
    }
    return LocalService(
      serviceUUID(of: entry),
      characteristics: [
        LocalCharacteristic(
          characteristic,
          properties: entry == .experimental ? [.write, .notify] : [.write, .indicate],
          value: value, security: entry == .bonded ? .encryption : [])
      ])
  }

  // MARK: The main loop

  func poll(at now: LinkInstant) -> Duration? {
    guard let control else { return nil }
    let answerTime = firmware.parts.answerTime
    let (responses, wait) = state.withLock { state in
      defer { state.responses.removeAll() }
      return (state.responses, state.poll(at: now, answerTime))
    }
    for response in responses {
      if firmware.settings.entry == .experimental {
        server.notify(control, response)
      } else {
        server.indicate(control, response)
      }
    }
    return wait
  }

  var ending: BootEnding? { state.withLock { $0.isOver ? .reset : nil } }

  func leave(_ ending: BootEnding) {
    guard case .reset = ending else { return }
    firmware.enterBootloader(named: state.withLock { $0.bootloaderName })
  }
}

/// The rules of the Buttonless DFU characteristic.
struct ButtonlessState: Sendable {
  private enum Phase: Sendable {
    case running
    /// The host has requested the reset, but has not confirmed the answer yet.
    case answered
    case leaving(at: LinkInstant?)
  }

  private static let nameBytesMaximum = 20
  private static let success: UInt8 = 0x01
  private static let notSupported: UInt8 = 0x02
  private static let failed: UInt8 = 0x04
  private static let invalidName: UInt8 = 0x05

  private let entry: SecureBootloaderSettings.Entry
  private var phase = Phase.running
  private var isSubscribed = false
  private(set) var bootloaderName: String?
  private(set) var isOver = false
  var responses: [[UInt8]] = []

  init(entry: SecureBootloaderSettings.Entry) { self.entry = entry }

  mutating func written(_ bytes: [UInt8]) -> ATTErrorCode? {
    guard isSubscribed else { return .clientConfigurationImproperlyConfigured }
    guard let opcode = bytes.first else { return .invalidAttributeValueLength }
    let status: UInt8
    switch (opcode, phase) {
    case (0x01, .running) where bytes.count == 1:
      phase = entry == .experimental ? .leaving(at: nil) : .answered
      status = Self.success
    case (0x01, _): status = Self.failed
    case (0x02, _) where entry == .buttonless: status = setName(bytes)
    default: status = Self.notSupported
    }
    responses.append([0x20, opcode, status])
    return nil
  }

  private mutating func setName(_ bytes: [UInt8]) -> UInt8 {
    guard bytes.count >= 3, Int(bytes[1]) == bytes.count - 2,
      bytes.count - 2 <= Self.nameBytesMaximum
    else { return Self.invalidName }
    bootloaderName = String(decoding: bytes[2...], as: UTF8.self)
    return Self.success
  }

  mutating func note(_ event: GATTServerEvent, control: AttributeHandle?) {
    switch event {
    case .configured(_, control, let value): isSubscribed = !value.isEmpty
    case .confirmed:
      if case .answered = phase { phase = .leaving(at: nil) }
    case .disconnected:
      isSubscribed = false
      // If the host did not confirm the answer, the device does not reset.
      if case .answered = phase { phase = .running }
    case .connected, .mtuChanged, .configured: break
    }
  }

  /// Requests the reset: immediately after the confirmation of an indication, or after a delay if
  /// the answer was a notification. Returns the time until the reset.
  mutating func poll(at now: LinkInstant, _ answerTime: Duration) -> Duration? {
    guard case .leaving(let begun) = phase else { return nil }
    let moment = begun ?? (entry == .experimental ? now.advanced(by: answerTime) : now)
    phase = .leaving(at: moment)
    isOver = now >= moment
    return isOver ? nil : now.duration(to: moment)
  }
}
