import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// The SMP server of one boot with its GATT server, and the OTA service if the application has it.
final class SMPProgram: BoardProgram {
  static let service: BluetoothUUID = "8d53dc1d-1db7-4cd3-868b-8a527460aa84"
  static let characteristic: BluetoothUUID = "da2e7828-fbce-4e01-ae9e-261174997c48"
  private struct State: Sendable {
    var server: SMPServer
    var mtu = ATTMTU.default
    var end: LinkInstant?
    /// The time at which the next request starts.
    var turn: LinkInstant?
    var isOver = false
    /// The number of requests to the file group at the last check, and the time at which an open
    /// file is closed.
    var fileUses = 0
    var closing: LinkInstant?
    /// Whether the link has ended and the program restarts when the flash is idle.
    var isLeaving = false
    /// Whether the pending flash operation is an operation of the OTA service.
    var isModuleOperation = false
    var random: SeededRandom
  }

  /// The default name of the vendor's firmware loader.
  private static let loaderName = "nRF_BM_MCUmgr"
  /// The minimum time from the answer to a reset request until the reset.
  private static let resetDelay = Duration.milliseconds(250)
  /// The time from the arrival of a request, or the end of the previous request, until the queue's
  /// thread runs. The radio's threads have priority and fill buffers during this time.
  private static let turnTime = Duration.milliseconds(1)

  let server: GATTServer
  let advertisement: Advertisement
  let dataPath: DataPath
  private let firmware: SMPFirmware
  private let parts: BoardParts
  private let handle: AttributeHandle
  private let state: Shared<State>
  /// The OTA service with its attributes; `nil` if the application does not have it.
  private let module: (module: OTAModule, handles: OTAModule.Handles)?
  private let console: (board: BoardConsole, table: AttributeTable)?

  /// - Parameter isActivation: whether the application's image runs for the first time.
  init(
    _ machine: SMPServer, of firmware: SMPFirmware, runs image: SlotImage, isActivation: Bool,
    random: SeededRandom
  ) {
    let parts = machine.parts
    (self.firmware, self.parts) = (firmware, parts)
    let state = Shared(State(server: machine, random: random))
    self.state = state
    let module = Self.module(
      of: firmware, machine, state, isActivation: isActivation, random: random.forked(for: 5))
    let isLoader = machine.isLoader
    let recoveryName = isLoader ? machine.savedName ?? Self.loaderName : "MCUboot"
    let name = machine.isRecovery ? recoveryName : parts.applicationName
    let isElsewhere = isLoader && machine.settings.loaderAddress == .flipped
    let address = (isElsewhere ? firmware.address.at(.flippedAddress) : nil) ?? firmware.address
    let console =
      machine.isRecovery ? nil : BoardConsole(of: parts, runs: image.version.description)
    let table = AttributeTable(
      services: Self.services(name: name, image, state, parts)
        + (module.map { [$0.service] } ?? [])
        + (machine.isRecovery ? [] : LocalService.battery(of: parts.settings))
        + (console?.services(wake: parts.wake) ?? []))
    self.console = console.map { ($0, table) }
    let handle = table.handle(of: Self.characteristic)
    self.handle = handle
    let attributes = module.map { ($0, OTAModule.handles(in: table)) }
    self.module = attributes
    dataPath = DataPath(handle: handle)
    advertisement = Advertisement(
      id: address.description, name: name, rssi: nil, services: [Self.service])
    server = GATTServer(
      table: table, receiveMTU: ATTMTU(clamping: parts.settings.mtu),
      valuesMaximum: Self.fragmentsMaximum(machine.settings)
    ) { event in
      if let (module, handles) = attributes { module.received(event, handles) }
      state.withLock { state in
        switch event {
        case .mtuChanged(_, let mtu): state.mtu = mtu
        case .disconnected:
          state.mtu = .default
          state.server.disconnected()
          // The loader restarts at the end of each connection.
          if isLoader { state.isLeaving = true }
        case .connected, .configured, .confirmed: break
        }
      }
      parts.wake()
    }
  }

  private static func module(
    of firmware: SMPFirmware, _ machine: SMPServer, _ state: Shared<State>, isActivation: Bool,
    random: SeededRandom
  ) -> OTAModule? {
    let settings = machine.settings
    guard settings.takesPatches, settings.mode.runsFromFirstSlot, !machine.isRecovery else {
      return nil
    }
    return OTAModule(
      of: machine.parts, record: machine.images[0].record, isActivation: isActivation,
      random: random,
      confirmTrial: { [weak firmware] in
        guard let record = state.withLock({ $0.server.confirmTrial() }) else { return false }
        do throws(FlashFault) {
          try firmware?.store(record)
          return true
        } catch {
          machine.parts.note(error)
          return false
        }
      }, isPending: { state.withLock { $0.server.images[0].record.isPending } })
  }

  /// Returns the maximum number of pending fragments: every buffer contains a response, and ATT_MTU
  /// is at its minimum.
  private static func fragmentsMaximum(_ settings: SMPServerSettings) -> Int {
    let buffers = settings.netBuffers
    return buffers.count * (buffers.size / ATTMTU.default.valueSizeMaximum + 1)
  }

  private static func services(
    name: String, _ image: SlotImage, _ state: Shared<State>, _ parts: BoardParts
  ) -> [LocalService] {
    let value = AttributeValue.written { bytes, _ in
      state.withLock { $0.server.received(bytes) }
      parts.wake()
      return nil
    }
    return [
      .genericAccess(name: name), .genericAttribute(),
      .deviceInformation([0x2A29: "Zephyr", 0x2A26: image.version.description]),
      LocalService(
        service,
        characteristics: [
          LocalCharacteristic(
            characteristic, properties: [.writeWithoutResponse, .notify], value: value,
            security: parts.settings.security.needed)
        ]),
    ]
  }

  // MARK: The main loop

  func poll(at now: LinkInstant) -> Duration? {
    let isNonsense = parts.settings.faults.contains(.nonsense)
    let hasBegun = module?.module.takeBegun() ?? false
    let (fragments, wait, hasTakenSlot) = state.withLock { state in
      if hasBegun { state.server.resetUpload() }
      let turn = takeTurn(in: &state, at: now)
      let closing = closeIdleFile(in: &state, at: now)
      let responses = state.server.responses
      state.server.responses.removeAll()
      let fragments = responses.flatMap { response in
        let bytes = isNonsense ? state.random.bytes(count: response.count) : response
        return Self.fragments(of: bytes, size: state.mtu.valueSizeMaximum)
      }
      defer { state.server.hasTakenSlot = false }
      return (
        fragments, [turn, closing, timeLeft(in: &state, at: now)].compactMap { $0 }.min(),
        state.server.hasTakenSlot
      )
    }
    for fragment in fragments { server.notify(handle, fragment) }
    var next: [Duration?] = [wait, console.map { $0.board.poll(at: now, over: server, $0.table) }]
    if let (module, handles) = module {
      if hasTakenSlot { module.giveUpSlot() }
      next.append(module.poll(at: now, handles, over: server))
    }
    return next.compactMap(\.self).min()
  }

  /// Starts the next request if its time is reached. Returns the time until the next request
  /// starts; `nil` = no request waits.
  private func takeTurn(in state: inout State, at now: LinkInstant) -> Duration? {
    if let turn = state.turn, now >= turn {
      state.turn = nil
      state.server.workOn()
    }
    guard state.server.hasWork else {
      state.turn = nil
      return nil
    }
    let turn = state.turn ?? now.advanced(by: Self.turnTime)
    state.turn = turn
    return now.duration(to: turn)
  }

  /// Closes an open file after a time without requests (CONFIG_MCUMGR_GRP_FS_FILE_AUTOMATIC_IDLE_
  /// CLOSE_TIME). Returns the time until the file is closed; `nil` = no file is open.
  private func closeIdleFile(in state: inout State, at now: LinkInstant) -> Duration? {
    guard state.server.hasOpenFile else { return nil }
    if state.closing == nil || state.fileUses != state.server.fileUses {
      state.fileUses = state.server.fileUses
      state.closing = now.advanced(by: state.server.settings.fileIdleTime)
    }
    guard let closing = state.closing, now >= closing else {
      return state.closing.map { now.duration(to: $0) }
    }
    guard state.server.closeIdleFile() else { return Self.turnTime }
    state.closing = nil
    return nil
  }

  private static func fragments(of bytes: [UInt8], size: Int) -> [[UInt8]] {
    stride(from: 0, to: bytes.count, by: size).map {
      Array(bytes[$0..<min($0 + size, bytes.count)])
    }
  }

  private func timeLeft(in state: inout State, at now: LinkInstant) -> Duration? {
    if state.isLeaving, state.server.operation == nil, !state.server.hasWork { state.isOver = true }
    guard state.server.resetMode != nil else { return nil }
    let end = state.end ?? now.advanced(by: max(Self.resetDelay, parts.answerTime))
    state.end = end
    // Pending writes complete before the restart.
    state.isOver = now >= end && state.server.operation == nil
    return now >= end ? nil : now.duration(to: end)
  }

  /// The flash performs one operation at a time: an operation that has started ends before an
  /// operation of the other service starts.
  var pendingOperation: FlashOperation? {
    let ofModule = module?.module.operation
    return state.withLock { state in
      let ofServer = state.server.operation
      state.isModuleOperation = ofModule != nil && (state.isModuleOperation || ofServer == nil)
      return state.isModuleOperation ? ofModule : ofServer
    }
  }

  func flashDone(_ isDone: Bool) {
    let isModuleOperation = state.withLock { state in
      defer { state.isModuleOperation = false }
      if !state.isModuleOperation { state.server.flashDone(isDone) }
      return state.isModuleOperation
    }
    if isModuleOperation { module?.module.flashDone(isDone) }
  }

  var ending: BootEnding? {
    if module?.module.activation != nil { return .activated }
    // The bootloader decides whether another image runs.
    return state.withLock { $0.isOver ? .activated : nil }
  }

  func leave(_ ending: BootEnding) throws(FlashFault) {
    if case .activated = ending, let image = module?.module.activation {
      try firmware.markPending(image)
    }
    let (server, mode) = state.withLock { ($0.server, $0.isOver ? $0.server.resetMode : nil) }
    let isPowered = if case .powerLost = ending { false } else { true }
    firmware.keep(server, isPowered: isPowered)
    if mode == 1 { firmware.enterRecovery() }
  }
}
