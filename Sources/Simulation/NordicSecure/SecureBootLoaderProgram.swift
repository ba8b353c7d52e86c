import OtaflashATT
import OtaflashGATT

/// The Secure DFU boot loader of one boot behind its server.
final class SecureBootLoaderProgram: BoardProgram {
  let server: GATTServer
  let advertisement: Advertisement
  let dataPath: DataPath
  private let firmware: SecureFirmware
  private let parts: BoardParts
  private let control: AttributeHandle
  private let state: Shared<SecureBootLoaderState>

  init(
    _ machine: SecureBootLoader, of firmware: SecureFirmware, inactivity: Duration, name: String,
    address: DeviceAddress, random: SeededRandom
  ) {
    let parts = firmware.parts
    (self.firmware, self.parts) = (firmware, parts)
    let state = Shared(
      SecureBootLoaderState(
        machine: machine, inactivity: inactivity, lastRequest: parts.clock.now, random: random))
    self.state = state
    let table = AttributeTable(services: Self.services(name: name, state, parts))
    let control = table.handle(of: SecureUUID.controlPoint)
    self.control = control
    dataPath = DataPath(handle: table.handle(of: SecureUUID.packet))
    advertisement = Advertisement(
      id: address.description, name: name, rssi: nil, services: [SecureUUID.service])
    server = GATTServer(table: table, receiveMTU: ATTMTU(clamping: parts.profile.mtu)) { event in
      state.withLock { $0.note(event, control: control, at: parts.clock.now) }
      parts.wake()
    }
  }

  private static func services(
    name: String, _ state: Shared<SecureBootLoaderState>, _ parts: BoardParts
  ) -> [LocalService] {
    let control = AttributeValue.written { bytes, _ in
      defer { parts.wake() }
      return state.withLock {
        $0.lastRequest = parts.clock.now
        return $0.machine.controlWritten(bytes)
      }
    }
    let packet = AttributeValue.written { bytes, _ in
      state.withLock { $0.machine.packetWritten(bytes) }
      parts.wake()
      return nil
    }
    return [
      .genericAccess(name: name), .genericAttribute(),
      LocalService(
        SecureUUID.service,
        characteristics: [
          LocalCharacteristic(
            SecureUUID.controlPoint, properties: [.write, .notify], value: control),
          LocalCharacteristic(
            SecureUUID.packet, properties: .writeWithoutResponse, value: packet),
        ]),
    ]
  }

  // MARK: The main loop

  func poll(at now: LinkInstant) -> Duration? {
    let isNonsense = parts.profile.faults.contains(.nonsense)
    let (responses, wait) = state.withLock { state in
      (state.takeResponses(isNonsense: isNonsense), state.poll(at: now, parts.answerTime))
    }
    for response in responses { server.notify(control, response) }
    return wait
  }

  var pendingOperation: FlashOperation? { state.withLock { $0.machine.queue.running } }

  func flashDone(_ isDone: Bool) { state.withLock { $0.machine.flashDone(isDone) } }

  var ending: BootEnding? {
    state.withLock { state in
      guard state.isOver else { return nil }
      return switch state.machine.request {
      case .activate: .activated
      case .reset, nil: .reset
      }
    }
  }

  func leave(_ ending: BootEnding) { firmware.keep(state.withLock { $0.machine.lies }) }

  // MARK: ATT_MTU

  func received(_ pdu: ATTPDU) {
    guard case .request(.exchangeMTU(let mtu)) = pdu else { return }
    state.withLock { $0.clientMTU = Int(mtu) }
  }

  /// To a client that takes less than the boot loader's own ATT_MTU it answers with one whose
  /// packets are whole words.
  func altered(_ pdu: ATTPDU) -> ATTPDU {
    guard case .response(.exchangeMTU(let own)) = pdu else { return pdu }
    let client = state.withLock { $0.clientMTU }
    guard client < Int(own), client > RadioModel.attWriteHeaderOctets else { return pdu }
    let payload = (client - RadioModel.attWriteHeaderOctets) & ~3
    return .response(
      .exchangeMTU(serverReceiveMTU: UInt16(payload + RadioModel.attWriteHeaderOctets)))
  }
}

/// What the boot loader's main loop and its server share.
struct SecureBootLoaderState: Sendable {
  var machine: SecureBootLoader
  /// Reset after so long without a request.
  let inactivity: Duration
  var lastRequest: LinkInstant
  var clientMTU = 0
  private(set) var isOver = false
  private var end: LinkInstant?
  private var random: SeededRandom

  init(
    machine: SecureBootLoader, inactivity: Duration, lastRequest: LinkInstant,
    random: SeededRandom
  ) {
    self.machine = machine
    self.inactivity = inactivity
    self.lastRequest = lastRequest
    self.random = random
  }

  mutating func note(_ event: GATTServerEvent, control: AttributeHandle, at now: LinkInstant) {
    switch event {
    case .connected: lastRequest = now
    case .configured(_, control, let value):
      machine.isNotifying = value.contains(.notification)
    case .disconnected:
      machine.isNotifying = false
      machine.responses.removeAll()
    case .mtuChanged, .configured, .confirmed: break
    }
  }

  mutating func takeResponses(isNonsense: Bool) -> [[UInt8]] {
    defer { machine.responses.removeAll() }
    guard isNonsense else { return machine.responses }
    return machine.responses.map { _ in
      random.bytes(count: Int.random(in: 1...20, using: &random))
    }
  }

  /// Returns the time until the boot loader ends by itself.
  mutating func poll(at now: LinkInstant, _ answerTime: Duration) -> Duration? {
    if machine.request == nil {
      let deadline = lastRequest.advanced(by: inactivity)
      guard now >= deadline else { return now.duration(to: deadline) }
      isOver = true
      return nil
    }
    let end = self.end ?? now.advanced(by: answerTime)
    self.end = end
    isOver = now >= end
    return isOver ? nil : now.duration(to: end)
  }
}
