import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// What one boot has set up: the receiver, and the server in front of it.
struct Boot: Sendable {
  let unit: ReceiverUnit
  let server: GATTServer
  let device: DeviceAttributes
}

/// How a boot ended.
enum BootEnding: Sendable {
  case activated(SlotImage)
  case reset
  case powerLost
  case switchedOff
}

extension SimulatedBoard {
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
  func end(_ connection: any BoardConnection, _ ending: BootEnding) {
    switch (ending, profile.linkDrop) {
    case (.powerLost, _), (_, .timeout): connection.boardVanishes()
    case (_, .close): connection.boardLink.close()
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
