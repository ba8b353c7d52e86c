import OtaflashATT
import OtaflashGATT

extension SimulatedBoard {
  /// The number of flash operations after which the flash stays busy.
  private static let operationsBeforeBusy = 10

  /// Serves connections and runs the program until the boot ends.
  func work(_ boot: Boot) async -> BootEnding {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.serveConnections(boot) }
      let ending = await operate(boot)
      // The link ends before the stack is torn down, so that the stack does not send a last PDU to
      // the host.
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
        _ = await boot.program.server.serve(self.link(connection, of: boot.program), clock: clock)
        group.cancelAll()
      }
      state.withLock { $0.disconnected(from: connection) }
      (connection as? AttachedConnection)?.close()
    }
  }

  /// Returns the link for the program's server; without faults and misbehavior it only counts PDUs.
  private func link(_ connection: any BoardConnection, of program: any BoardProgram) -> any Link {
    let air = connection.boardLink
    let counting = CountingLink(
      air, dataPath: program.dataPath, traffic: traffic, note: noteTraffic)
    guard !settings.faults.isEmpty || program.alteration != nil else { return counting }
    return FaultyLink(
      counting, over: air, alteration: program.alteration, filter: filter, clock: clock)
  }

  private func cutAfterTime(_ connection: any BoardConnection) async {
    let start = state.withLock { $0.isCutDone ? nil : $0.firstConnection }
    guard let start, let time = settings.faults.time(of: .cutAfter),
      await clock.pause(until: start.advanced(by: time))
    else { return }
    state.withLock { $0.isCutDone = true }
    connection.cut()
  }

  /// Runs the main loop, which polls the program and executes its flash operations.
  private func operate(_ boot: Boot) async -> BootEnding {
    var flashReady: LinkInstant?
    // The end of an operation during which the next operation was already waiting. The next
    // operation starts at this time, even if the process runs late, because the flash of a real
    // device does not wait for a busy host.
    var flashFree: LinkInstant?
    while !Task.isCancelled {
      if state.withLock({ $0.takePowerCut() }) {
        if let operation = boot.program.pendingOperation { tear(operation) }
        return .powerLost
      }
      let wait = boot.program.poll(at: clock.now)
      if let ending = boot.program.ending { return ending }
      if let operation = boot.program.pendingOperation {
        let start = flashFree ?? clock.now
        let ready =
          flashReady
          ?? start.advanced(
            by: flash.geometry.duration(of: operation) + boot.program.computationTime)
        flashReady = ready
        if clock.now >= ready, !isBusyForEver {
          (flashReady, flashFree) = (nil, ready)
          guard complete(operation, of: boot.program) else { return .reset }
          continue
        }
      } else {
        flashFree = nil
      }
      await rest(wait, until: isBusyForEver ? nil : flashReady)
    }
    return .switchedOff
  }

  private var isBusyForEver: Bool {
    settings.faults.contains(.busyForever)
      && state.withLock { $0.flashOperations } >= Self.operationsBeforeBusy
  }

  private func rest(_ wait: Duration?, until ready: LinkInstant?) async {
    if wait == .zero { return await Task.yield() }
    let deadlines = [wait.map { clock.now.advanced(by: $0) }, ready].compactMap { $0 }
    if let deadline = deadlines.min() {
      await programSignal.wait(until: deadline, on: clock)
    } else {
      await programSignal.wait()
    }
  }

  /// Ends a flash operation; returns `false` if the device resets during it.
  private func complete(_ operation: FlashOperation, of program: any BoardProgram) -> Bool {
    let number = state.withLock {
      $0.flashOperations += 1
      return $0.flashOperations
    }
    if number == settings.faults.count(of: .resetAtFlashOperation) {
      if settings.faults.contains(.torn) { tear(operation) }
      return false
    }
    do throws(FlashFault) {
      try flash.perform(operation)
      program.flashDone(true)
    } catch {
      state.withLock { $0.flashFaults.append(error) }
      program.flashDone(false)
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
