import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

extension SimulatedBoard {
  /// Powers the device until the task is cancelled or a storage fault stops the device. Call this
  /// method only once.
  ///
  /// - Returns: the storage fault that stopped the device; `nil` after a cancellation.
  @discardableResult
  public func run() async -> FlashFault? {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.driveRadios() }
      let fault = await live()
      group.cancelAll()
      return fault
    }
  }

  /// Runs the radio of all connections. A reset does not stop it: each connection continues until
  /// both ends have detected its end.
  private func driveRadios() async {
    await withDiscardingTaskGroup { group in
      while let connection = await radios.next() { group.addTask { await connection.run() } }
    }
  }

  private func live() async -> FlashFault? {
    do throws(FlashFault) {
      while !Task.isCancelled {
        let boot = try firmware.boot(state.withLock { $0.resets })
        guard await clock.pause(for: boot.flashTime) else { break }
        advertise(boot)
        let ending = await work(boot)
        try boot.program.leave(ending)
        guard await comesBack(after: ending) else { break }
      }
      return nil
    } catch {
      state.withLock { $0.phase = .gone }
      return error
    }
  }

  private func advertise(_ boot: Boot) {
    let isElsewhere = boot.isActivation && settings.faults.contains(.newAddress)
    state.withLock {
      if isElsewhere { $0.hasNewAddress = true }
      $0.advertisement = boot.program.advertisement
      if settings.addressing == .random, $0.resets > 0 {
        let drawn = settings.address(afterRestart: $0.resets)
        $0.advertisement = boot.program.advertisement.advertised(under: drawn)
      }
      $0.phase = .advertising
    }
  }

  // MARK: Reset

  /// Ends the link with or without a termination PDU, depending on the profile.
  func end(_ connection: any BoardConnection, _ ending: BootEnding) {
    switch (ending, settings.linkDrop) {
    case (.powerLost, _), (_, .timeout): connection.boardVanishes()
    case (_, .close): connection.boardLink.close()
    }
  }

  /// Waits for the boot time; returns `false` if the device stays off or the task is cancelled.
  private func comesBack(after ending: BootEnding) async -> Bool {
    guard case .activated = ending else { return await clock.pause(for: settings.bootTime) }
    if settings.faults.contains(.neverReturns) {
      state.withLock { $0.phase = .gone }
      while !Task.isCancelled { await programSignal.wait() }
      return false
    }
    // A bootloader that rejects the new image boots a second time, with the previous image.
    let boots = settings.faults.contains(.reverts) ? 2 : 1
    return await clock.pause(for: settings.bootTime * boots)
  }
}
