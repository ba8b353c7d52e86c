import OtaflashATT
import OtaflashGATT

extension SimulatedBoard {
  /// Flash operations that still end when the flash is to become busy for ever.
  private static let operationsBeforeBusy = 10

  /// Serves connections and runs the firmware until the boot ends.
  func work(_ boot: Boot) async -> BootEnding {
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
          connection.boardLink, device: boot.device, history: history, note: noteTraffic)
        _ = await boot.server.serve(link, clock: clock)
        group.cancelAll()
      }
      state.withLock { $0.disconnected(from: connection) }
      (connection as? AttachedConnection)?.close()
    }
  }

  private func cutAfterTime(_ connection: any BoardConnection) async {
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
