import OtaflashFirmware

/// The flash operations of the bootloader and their results.
extension LegacyBootloader {
  mutating func offer(_ operations: [FlashOperation], for purpose: FlashPurpose) {
    let isQueued = queue.offer(operations, for: purpose)
    precondition(isQueued, "the pool limits the queue")
  }

  /// Erases and writes the settings page.
  mutating func store(_ record: BootRecord, for purpose: FlashPurpose) {
    bootRecord = record
    bootRecord.sequence += 1
    offer(loader.operations(storing: bootRecord), for: purpose)
  }

  /// Handles the end of the erase: answers START, unless the version of the bootloader hangs here.
  /// If the erase removed the application, the settings page must still be erased.
  mutating func prepared() {
    phase = .ready
    if settings.banks == .single {
      var gone = bootRecord
      gone.images[gone.active] = SlotImage()
      store(gone, for: .settings)
    }
    if settings.hangsAfterStart { isHanging = true } else { answerFromFlash(0x01) }
  }

  /// Sends an answer. If no host is subscribed, for example because the link has ended, the device
  /// resets: the real bootloader hits an assertion.
  private mutating func answerFromFlash(_ opcode: UInt8) {
    guard isNotifying else {
      request = .reset
      return
    }
    answer(opcode, .success)
  }

  mutating func flashDone(_ isDone: Bool) {
    let purpose = queue.finishedOne()
    guard isDone else {
      request = .reset
      return
    }
    switch purpose {
    case .erase: prepared()
    case .packet(let isLast):
      packetsInFlash -= 1
      if isLast, phase == .image { answerFromFlash(0x03) }
    case .activation(let image): request = image.map { .activate($0) } ?? .reset
    case .settings, nil: break
    }
  }

  func imageInFlash() -> [UInt8]? {
    do throws(FlashFault) {
      return try parts.flash.read(slot..<slot + Int(sizes.total))
    } catch {
      parts.note(error)
      return nil
    }
  }
}
