import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

extension SimulatedBoard {
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

  /// Ends the link as the profile has it: without a word, or with one.
  func end(_ connection: any BoardConnection, _ ending: BootEnding) {
    switch (ending, settings.linkDrop) {
    case (.powerLost, _), (_, .timeout): connection.boardVanishes()
    case (_, .close): connection.boardLink.close()
    }
  }

  /// Waits for the end of the bootloader's work; `false` when the device stays off.
  private func comesBack(after ending: BootEnding) async -> Bool {
    guard case .activated = ending else { return await clock.pause(for: settings.bootTime) }
    if settings.faults.contains(.neverReturns) {
      state.withLock { $0.phase = .gone }
      while !Task.isCancelled { await programSignal.wait() }
      return false
    }
    // An image that fails and is taken back costs one boot more.
    let boots = settings.faults.contains(.reverts) ? 2 : 1
    return await clock.pause(for: settings.bootTime * boots)
  }
}
