import OtaflashATT
import OtaflashGATT

/// Legacy DFU behind a server: the boot loader of SDK 11, or InfiniTime as a whole.
final class LegacyProgram: BoardProgram {
  /// InfiniTime gives a transfer up after so long without a packet.
  private static let stallLimit = Duration.seconds(10)
  /// Version 0.8: SDK 11, with an init packet.
  private static let version: [UInt8] = [0x08, 0x00]

  private struct State: Sendable {
    var machine: LegacyBootLoader
    var lastRequest: LinkInstant
    var end: LinkInstant?
    var isOver = false
    var random: SeededRandom
  }

  let server: GATTServer
  let advertisement: Advertisement
  let dataPath: DataPath
  private let parts: BoardParts
  private let settings: LegacyBootLoaderSettings
  private let control: AttributeHandle
  private let state: Shared<State>

  /// - Parameter information: the Device Information of an application that takes updates itself.
  init(
    _ machine: LegacyBootLoader, name: String, address: DeviceAddress, information: LocalService?,
    random: SeededRandom
  ) {
    let parts = machine.parts
    (self.parts, settings) = (parts, machine.settings)
    let state = Shared(
      State(machine: machine, lastRequest: parts.clock.now, random: random))
    self.state = state
    let table = AttributeTable(
      services: [.genericAccess(name: name), .genericAttribute()]
        + (information.map { [$0] } ?? []) + [Self.service(state, parts)])
    let control = table.handle(of: LegacyUUID.controlPoint)
    self.control = control
    dataPath = DataPath(handle: table.handle(of: LegacyUUID.packet))
    advertisement = Advertisement(
      id: address.description, name: name, rssi: nil, services: [LegacyUUID.service])
    server = GATTServer(table: table, receiveMTU: ATTMTU(clamping: parts.profile.mtu)) { event in
      state.withLock { state in
        switch event {
        case .connected: state.lastRequest = parts.clock.now
        case .configured(_, control, let value):
          state.machine.isNotifying = value.contains(.notification)
        case .disconnected: state.machine.forget()
        case .mtuChanged, .configured, .confirmed: break
        }
      }
      parts.wake()
    }
  }

  private static func service(_ state: Shared<State>, _ parts: BoardParts) -> LocalService {
    let control = AttributeValue.written { bytes, _ in
      defer { parts.wake() }
      return state.withLock {
        $0.lastRequest = parts.clock.now
        return $0.machine.controlWritten(bytes)
      }
    }
    let packet = AttributeValue.written { bytes, _ in
      state.withLock {
        $0.lastRequest = parts.clock.now
        $0.machine.packetWritten(bytes)
      }
      parts.wake()
      return nil
    }
    return LocalService(
      LegacyUUID.service,
      characteristics: [
        LocalCharacteristic(
          LegacyUUID.controlPoint, properties: [.write, .notify], value: control),
        LocalCharacteristic(LegacyUUID.packet, properties: .writeWithoutResponse, value: packet),
        .readOnly(LegacyUUID.version, version),
      ])
  }

  // MARK: The main loop

  func poll(at now: LinkInstant) -> Duration? {
    let isNonsense = parts.profile.faults.contains(.nonsense)
    let (responses, wait) = state.withLock { state in
      var responses = state.machine.responses
      state.machine.responses.removeAll()
      if isNonsense {
        responses = responses.map { _ in state.random.bytes(count: 20) }
      }
      return (responses, timeLeft(in: &state, at: now))
    }
    for response in responses { server.notify(control, response) }
    return wait
  }

  /// Returns the time until something happens by itself.
  private func timeLeft(in state: inout State, at now: LinkInstant) -> Duration? {
    if state.machine.request != nil {
      let end = state.end ?? now.advanced(by: parts.answerTime)
      state.end = end
      state.isOver = now >= end
      return state.isOver ? nil : now.duration(to: end)
    }
    switch settings.variant {
    case .sdk11:
      let deadline = state.lastRequest.advanced(by: settings.inactivity)
      state.isOver = now >= deadline
      return state.isOver ? nil : now.duration(to: deadline)
    case .infinitime:
      guard state.machine.phase == .receiving else { return nil }
      let deadline = state.lastRequest.advanced(by: Self.stallLimit)
      guard now >= deadline else { return now.duration(to: deadline) }
      state.machine.stall()
      return nil
    }
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
}
