import OtaflashFirmware

/// What the bootloader has its flash do, and what follows from it.
extension LegacyBootloader {
  mutating func offer(_ operations: [FlashOperation], for purpose: FlashPurpose) {
    let isQueued = queue.offer(operations, for: purpose)
    precondition(isQueued, "the pool bounds what is queued")
  }

  /// An erase and a write of the settings page.
  mutating func store(_ record: BootRecord, for purpose: FlashPurpose) {
    bootRecord = record
    bootRecord.sequence += 1
    offer(loader.operations(storing: bootRecord), for: purpose)
  }

  /// The room is erased: START is answered, while the settings page is still to be erased where the
  /// application has gone with it.
  mutating func prepared() {
    phase = .ready
    if settings.banks == .single {
      var gone = bootRecord
      gone.images[gone.active] = SlotImage()
      store(gone, for: .settings)
    }
    answerFromFlash(0x01)
  }

  /// An answer that finds no link is an assertion that resets.
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
