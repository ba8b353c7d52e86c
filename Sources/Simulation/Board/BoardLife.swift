import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// What one boot has set up: the receiver, and the server in front of it.
private struct Boot: Sendable {
  let unit: ReceiverUnit
  let server: GATTServer
  let device: DeviceAttributes
}

/// How a boot ended.
private enum BootEnding: Sendable {
  case activated(SlotImage)
  case reset
  case powerLost
  case switchedOff
}

extension SimulatedBoard {
  /// Pages that a flash that becomes busy for ever still erases and writes, in operations.
  private static let operationsBeforeBusy = 10
  /// The page of the slot, from 0, that a bad block lies in.
  private static let badPage = 5

  /// Powers the device until the task is cancelled. To be called once.
  ///
  /// - Returns: the fault of the storage that stopped the device; `nil` when it was cancelled.
  @discardableResult
  public func run() async -> FlashFault? {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.driveRadios() }
      let fault = await live()
      group.cancelAll()
      return fault
    }
  }

  /// The air does not stop when the device resets: each connection lives on until both sides know.
  private func driveRadios() async {
    await withDiscardingTaskGroup { group in
      while let connection = await radios.next() { group.addTask { await connection.run() } }
    }
  }

  private func live() async -> FlashFault? {
    do throws(FlashFault) {
      while !Task.isCancelled {
        let boot = try start()
        state.withLock { $0.phase = .advertising }
        let ending = await work(boot)
        try noteActivation(ending)
        guard await comesBack(after: ending) else { break }
      }
      return nil
    } catch {
      state.withLock { $0.phase = .gone }
      return error
    }
  }

  // MARK: Boot

  private func start() throws(FlashFault) -> Boot {
    let (record, outcome) = try loader.boot(
      state.withLock { $0.record }, faults: profile.faults,
      startsOnTrial: profile.startsOnTrial)
    let resets = state.withLock {
      $0.record = record
      return $0.resets
    }
    if profile.faults.contains(.badBlock) {
      let slot = profile.layout.slot(record.inactive)
      flash.weaken(pageAt: slot + Self.badPage * profile.layout.pageSize)
    }
    let unit = ReceiverUnit(
      profile: profile, running: record.images[record.active], slot: record.inactive,
      outcome: outcome, onTrial: record.isOnTrial, flash: flash,
      random: random.forked(for: 1000 + UInt64(resets)),
      confirmTrial: { [weak self] in self?.confirmTrial() ?? false })
    return makeBoot(unit, running: record.images[record.active])
  }

  private func makeBoot(_ unit: ReceiverUnit, running: SlotImage) -> Boot {
    let firmware = firmware
    let device = DeviceAttributes(profile: profile, running: running, unit: unit) {
      firmware.signal()
    }
    let server = GATTServer(table: device.table, receiveMTU: ATTMTU(clamping: profile.mtu)) {
      switch $0 {
      case .connected: unit.connected()
      case .mtuChanged: break
      case .configured(_, device.control, let value): unit.controlConfigured(value.rawValue)
      case .configured(_, device.status, let value): unit.statusConfigured(value.rawValue)
      case .configured: break
      case .confirmed: unit.indicationConfirmed()
      case .disconnected: unit.disconnected()
      }
      firmware.signal()
    }
    return Boot(unit: unit, server: server, device: device)
  }

  private func confirmTrial() -> Bool {
    var record = state.withLock { $0.record }
    guard record.isOnTrial else { return false }
    record.isOnTrial = false
    do throws(FlashFault) {
      let stored = try loader.storeNext(record)
      state.withLock { $0.record = stored }
      return true
    } catch {
      state.withLock { $0.flashFaults.append(error) }
      return false
    }
  }

  // MARK: Reset

  /// Ends the link as the profile has it: without a word, or with one.
  private func end(_ connection: SimulatedConnection, _ ending: BootEnding) {
    switch (ending, profile.linkDrop) {
    case (.powerLost, _), (_, .timeout): connection.vanish(.peripheral, with: .closedLocally)
    case (_, .close): connection.peripheral.close()
    }
  }

  /// Marks an activated image for the boot loader.
  private func noteActivation(_ ending: BootEnding) throws(FlashFault) {
    guard case .activated(let image) = ending else { return }
    var record = state.withLock { $0.record }
    record.isPending = true
    record.images[record.inactive] = image
    let stored = try loader.storeNext(record)
    state.withLock { $0.record = stored }
  }

  /// Waits for the end of the boot loader's work; `false` when the device stays off.
  private func comesBack(after ending: BootEnding) async -> Bool {
    guard case .activated = ending else { return await clock.pause(for: profile.bootTime) }
    if profile.faults.contains(.neverReturns) {
      state.withLock { $0.phase = .gone }
      while !Task.isCancelled { await firmware.wait() }
      return false
    }
    // An image that fails and is taken back costs one boot more.
    let boots = profile.faults.contains(.reverts) ? 2 : 1
    return await clock.pause(for: profile.bootTime * boots)
  }
}

// MARK: - Firmware

extension SimulatedBoard {
  private func work(_ boot: Boot) async -> BootEnding {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.serveConnections(boot) }
      let ending = await operate(boot)
      // The link ends before the stack is torn down, so that the host sees no farewell of it.
      if let connection = state.withLock({ $0.switchOff() }) { end(connection, ending) }
      group.cancelAll()
      return ending
    }
  }

  private func serveConnections(_ boot: Boot) async {
    while !Task.isCancelled {
      await connectionOffered.wait()
      guard let connection = state.withLock({ $0.takeOffered() }) else { continue }
      await withDiscardingTaskGroup { group in
        group.addTask { await self.cutAfterTime(connection) }
        let link = FaultyLink(
          connection.peripheral, device: boot.device, history: history, note: noteTraffic)
        _ = await boot.server.serve(link, clock: clock)
        group.cancelAll()
      }
      state.withLock { $0.disconnected(from: connection) }
    }
  }

  private func cutAfterTime(_ connection: SimulatedConnection) async {
    let start = state.withLock { $0.isCutDone ? nil : $0.firstConnection }
    guard let start, let time = profile.faults.timeUntilCut,
      await clock.pause(until: start.advanced(by: time))
    else { return }
    state.withLock { $0.isCutDone = true }
    connection.cut()
  }

  /// The firmware's main loop: polls the receiver, sends what it wants sent, lets flash operations
  /// take their time.
  private func operate(_ boot: Boot) async -> BootEnding {
    var flashReady: LinkInstant?
    while !Task.isCancelled {
      if state.withLock({ $0.takePowerCut() }) {
        if let operation = boot.unit.pendingOperation { tear(operation) }
        return .powerLost
      }
      let wait = boot.unit.poll(milliseconds: milliseconds)
      send(boot)
      if let image = boot.unit.activatedImage { return .activated(image) }
      if let operation = boot.unit.pendingOperation {
        let ready = flashReady ?? clock.now.advanced(by: flash.geometry.duration(of: operation))
        flashReady = ready
        if clock.now >= ready, !isBusyForEver {
          flashReady = nil
          guard complete(operation, of: boot) else { return .reset }
          continue
        }
      }
      await rest(wait, until: isBusyForEver ? nil : flashReady)
    }
    return .switchedOff
  }

  private var milliseconds: UInt32 {
    let (seconds, attoseconds) = clock.now.elapsed.components
    return UInt32(truncatingIfNeeded: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
  }

  private var isBusyForEver: Bool {
    profile.faults.contains(.busyForever)
      && state.withLock { $0.flashOperations } >= Self.operationsBeforeBusy
  }

  private func rest(_ wait: Duration?, until ready: LinkInstant?) async {
    if wait == .zero { return await Task.yield() }
    let deadlines = [wait.map { clock.now.advanced(by: $0) }, ready].compactMap { $0 }
    if let deadline = deadlines.min() {
      await firmware.wait(until: deadline, on: clock)
    } else {
      await firmware.wait()
    }
  }

  private func send(_ boot: Boot) {
    while let item = boot.unit.takeOutgoing() {
      switch item {
      case .answer(let bytes): boot.server.indicate(boot.device.control, bytes)
      case .status(let bytes): boot.server.notify(boot.device.status, bytes)
      }
    }
  }

  /// Ends a flash operation; `false` when the device resets in it.
  private func complete(_ operation: FlashOperation, of boot: Boot) -> Bool {
    let number = state.withLock {
      $0.flashOperations += 1
      return $0.flashOperations
    }
    if number == profile.faults.flashOperationOfReset {
      if profile.faults.contains(.torn) { tear(operation) }
      return false
    }
    do throws(FlashFault) {
      try flash.perform(operation)
      boot.unit.flashDone(true)
    } catch {
      state.withLock { $0.flashFaults.append(error) }
      boot.unit.flashDone(false)
    }
    return true
  }

  private func tear(_ operation: FlashOperation) {
    do throws(FlashFault) {
      try flash.tear(operation)
    } catch {
      state.withLock { $0.flashFaults.append(error) }
    }
  }
}
