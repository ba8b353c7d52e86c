import OtaflashFirmware

/// The Packet characteristic: bytes of the object that was created or selected last.
extension SecureBootloader {
  /// Handles a packet. A packet without a free buffer is dropped without an error; another rejected
  /// packet is reported only if a receipt is due.
  mutating func packetWritten(_ bytes: [UInt8]) {
    guard !bytes.isEmpty, buffersInUse < Self.packetBuffers else { return }
    let refusal: SecureResult? =
      switch currentType {
      case .command: append(toInitPacket: bytes)
      case .data: queueForFlash(bytes)
      case nil: .unsupportedType
      }
    countPacket(refusal)
  }

  private mutating func append(toInitPacket bytes: [UInt8]) -> SecureResult? {
    guard initPacketSize > 0, image == nil else { return .operationNotPermitted }
    guard initPacket.count + bytes.count <= initPacketSize else { return .insufficientResources }
    initPacket += bytes
    return nil
  }

  /// Queues a packet for the flash. If the queue is full or the address is not aligned, the packet
  /// is dropped without an error; the host detects the loss by the checksum.
  private mutating func queueForFlash(_ bytes: [UInt8]) -> SecureResult? {
    guard image != nil else { return .operationNotPermitted }
    guard queued.offset - executed.offset + bytes.count <= objectSize else {
      return .insufficientResources
    }
    let address = slot + queued.offset
    let alignment = parts.flash.geometry.writeAlignment
    let padding = (alignment - bytes.count % alignment) % alignment
    let words = bytes + [UInt8](repeating: 0xFF, count: padding)
    guard address.isMultiple(of: alignment),
      queue.offer([.write(words, at: address)], for: .packet)
    else { return nil }
    buffersInUse += 1
    queued.offset += bytes.count
    var crc = CRC32(continuing: queued.crc32)
    crc.update(bytes)
    queued.crc32 = crc.value
    return nil
  }

  /// Counts a packet. The result of the packet is reported only if a receipt is due.
  private mutating func countPacket(_ refusal: SecureResult?) {
    guard receiptTarget > 0 else { return }
    packetsUntilReceipt -= 1
    guard packetsUntilReceipt == 0 else { return }
    packetsUntilReceipt = receiptTarget
    if let refusal { return fail(0x03, refusal) }
    let progress =
      currentType == .command
      ? Progress(offset: initPacket.count, crc32: CRC32.checksum(initPacket))
      : misbehavior.altered(queued, of: imageSize)
    succeed(0x03, progress.bytes)
  }
}
