import Crypto
import OtaflashFirmware

/// Executes objects: checks an init packet, or completes a data object.
extension SecureBootloader {
  mutating func execute() {
    switch currentType {
    case .command: executeInitPacket()
    case .data:
      isExecutePending = true
      executeDataWhenIdle()
    case nil: fail(0x04, .unsupportedType)
    }
  }

  private mutating func executeInitPacket() {
    guard initPacketSize > 0, initPacket.count == initPacketSize else {
      return fail(0x04, .operationNotPermitted)
    }
    guard image == nil else { return succeed(0x04) }
    let check = InitPacketCheck(
      key: settings.publicKey, settings: settings, applicationVersion: record.applicationVersion,
      bootloaderVersion: record.bootloaderVersion, room: parts.settings.slotSize)
    if let refusal = check.refusal(of: initPacket) { return fail(0x04, refusal) }
    image = Self.decoded(initPacket)
    record.initPacket = initPacket
    guard storeRecord(for: .settings) else { return fail(0x04, .operationFailed) }
    succeed(0x04)
  }

  /// Executes a data object. This is the only request whose answer waits for the flash.
  mutating func executeDataWhenIdle() {
    guard isExecutePending, queue.isIdle else { return }
    isExecutePending = false
    guard let image, queued.offset - executed.offset == objectSize else {
      return fail(0x04, .operationNotPermitted)
    }
    executed = queued
    guard queued.offset == imageSize else { return succeed(0x04) }
    finish(image)
  }

  /// Handles the last object: the image must have the hash that the init packet announced.
  private mutating func finish(_ image: InitPacket) {
    guard let bytes = imageInFlash(), Array(SHA256.hash(data: bytes).reversed()) == image.hash
    else {
      (queued, executed, objectSize) = (Progress(), Progress(), 0)
      (initPacket, initPacketSize, self.image) = ([], 0, nil)
      record.initPacket = []
      guard storeRecord(for: .settings) else { return fail(0x04, .operationFailed) }
      return fail(0x04, .extended(.hashMismatch))
    }
    succeed(0x04)
    let isApplication = image.type == InitPacket.ImageType.application.rawValue
    record.pending = isApplication ? .application : .system
    record.pendingVersion = UInt32(truncatingIfNeeded: image.firmwareVersion ?? 0)
    record.initPacket = []
    let described = SlotImage(describing: bytes)
    var next = bootRecord
    if isApplication { next.markPending(described, inPlace: settings.banks == .single) }
    next.sequence += 1
    let isQueued =
      storeRecord(for: .settings)
      && queue.offer(bootPages.operations(storing: next), for: .activation(described))
    precondition(isQueued, "the queue was idle")
  }

  private func imageInFlash() -> [UInt8]? {
    do throws(FlashFault) {
      return try parts.flash.read(slot..<slot + imageSize)
    } catch {
      parts.note(error)
      return nil
    }
  }
}
