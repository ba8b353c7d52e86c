import OtaflashFirmware

/// Creates and selects objects, and reports on them.
extension SecureBootloader {
  mutating func answerCreate(_ bytes: [UInt8]) {
    guard bytes.count == 6 else { return fail(0x01, .invalidParameter) }
    guard let type = ObjectType(rawValue: bytes[1]) else { return fail(0x01, .unsupportedType) }
    currentType = type
    packetsUntilReceipt = receiptTarget
    let size = Int(bytes.littleEndianWord(at: 2))
    switch type {
    case .command: createInitPacket(size)
    case .data: createData(size)
    }
  }

  private mutating func createInitPacket(_ size: Int) {
    guard size > 0 else { return fail(0x01, .invalidParameter) }
    guard size <= settings.initPacketMaximum else { return fail(0x01, .insufficientResources) }
    (queued, executed, objectSize) = (Progress(), Progress(), 0)
    (initPacket, initPacketSize, image) = ([], size, nil)
    succeed(0x01)
  }

  private mutating func createData(_ size: Int) {
    guard image != nil else { return fail(0x01, .operationNotPermitted) }
    let end = executed.offset + size
    let pageSize = parts.settings.layout.pageSize
    guard size > 0, size.isMultiple(of: pageSize) || end == imageSize else {
      return fail(0x01, .invalidParameter)
    }
    guard size <= settings.dataObjectMaximum else { return fail(0x01, .insufficientResources) }
    guard end <= imageSize else { return fail(0x01, .operationNotPermitted) }
    guard eraseObject(size) else { return fail(0x01, .operationFailed) }
    objectSize = size
    queued = executed
    // The answer is sent before the erase has ended.
    succeed(0x01)
  }

  private mutating func eraseObject(_ size: Int) -> Bool {
    if settings.banks == .single, !record.isApplicationGone {
      record.isApplicationGone = true
      guard storeRecord(for: .settings) else { return false }
    }
    let pageSize = parts.settings.layout.pageSize
    let start = slot + executed.offset
    let pages = stride(from: start, to: start + size, by: pageSize)
    return queue.offer(pages.map { .erase(page: $0) }, for: .erase)
  }

  mutating func answerReceiptTarget(_ bytes: [UInt8]) {
    guard bytes.count == 3 else { return fail(0x02, .invalidParameter) }
    receiptTarget = Int(bytes.littleEndianHalfword(at: 1))
    packetsUntilReceipt = receiptTarget
    succeed(0x02)
  }

  mutating func answerSelect(_ bytes: [UInt8]) {
    guard bytes.count == 2 else { return fail(0x06, .invalidParameter) }
    guard let type = ObjectType(rawValue: bytes[1]) else { return fail(0x06, .unsupportedType) }
    currentType = type
    let maximum =
      type == .command ? settings.initPacketMaximum : settings.dataObjectMaximum
    succeed(0x06, UInt32(maximum).littleEndianBytes + progress(of: type).bytes)
  }

  mutating func answerChecksum() {
    guard let currentType else { return fail(0x03, .unsupportedType) }
    succeed(0x03, progress(of: currentType).bytes)
  }

  private mutating func progress(of type: ObjectType) -> Progress {
    switch type {
    case .command:
      Progress(offset: initPacket.count, crc32: CRC32.checksum(initPacket))
    case .data: misbehavior.altered(queued, of: imageSize)
    }
  }
}
