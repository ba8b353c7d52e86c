/// The Packet characteristic: sizes, init packet or image, depending on the last request.
extension LegacyBootloader {
  mutating func packetWritten(_ bytes: [UInt8]) {
    switch expected {
    case .sizes:
      if let refusal = refusal(ofSizes: bytes) { answer(0x01, refusal) }
    case .initPacket:
      if let refusal = refusal(ofInitPacket: bytes) { answer(0x02, refusal) }
    case .image:
      if let refusal = refusal(ofData: bytes) { answer(0x03, refusal) }
    case .nothing: break
    }
  }

  /// Starts the erase, whose end is answered; returns the status if the sizes are rejected. The
  /// sizes are stored even if they are rejected.
  private mutating func refusal(ofSizes bytes: [UInt8]) -> LegacyStatus? {
    guard bytes.count == 12 else { return .notSupported }
    let wanted = LegacySizes(decoding: bytes)
    sizes = wanted
    guard !wanted.isMixed, wanted.isInWords else { return .notSupported }
    let total =
      UInt64(wanted.softDevice) + UInt64(wanted.bootloader) + UInt64(wanted.application)
    guard total <= UInt64(parts.settings.slotSize) else { return .sizeExceedsLimit }
    guard phase == .idle else { return .invalidState }
    phase = .preparing
    guard total > 0 else {
      prepared()
      return nil
    }
    let pages = stride(
      from: slot, to: slot + Int(total), by: parts.flash.geometry.pageSize)
    offer(pages.map { .erase(page: $0) }, for: .erase)
    return nil
  }

  /// Appends a part of the init packet, padded to complete words; returns the status if the part is
  /// rejected.
  private mutating func refusal(ofInitPacket bytes: [UInt8]) -> LegacyStatus? {
    if phase == .ready { phase = .initPacket }
    guard phase == .initPacket else { return .invalidState }
    let padding = (4 - bytes.count % 4) % 4
    guard initPacket.count + bytes.count + padding <= Self.initPacketBytesMaximum else {
      return .failed
    }
    initPacket += bytes + [UInt8](repeating: 0, count: padding)
    return nil
  }

  /// Copies a packet into a buffer, counts the packet, and reports the packet before it is in
  /// flash. Returns the status if the packet is rejected.
  private mutating func refusal(ofData bytes: [UInt8]) -> LegacyStatus? {
    guard bytes.count.isMultiple(of: 4) else { return .notSupported }
    guard packetsInFlash < pool.packets else { return .failed }
    guard bytes.count <= pool.bytes else { return .sizeExceedsLimit }
    guard phase == .image else { return .invalidState }
    let count = UInt32(bytes.count)
    // Once data has exceeded the size, the counter stays invalid.
    guard received != .max else { return .failed }
    guard UInt64(received) + UInt64(count) <= UInt64(sizes.total) else {
      received = .max
      return .sizeExceedsLimit
    }
    if bytes.isEmpty { return nil }
    let address = slot + Int(received)
    received += count
    receivedInAll &+= count
    packetsInFlash += 1
    let isLast = received == sizes.total
    offer([.write(bytes, at: address)], for: .packet(isLast: isLast))
    if !isLast { countPacket() }
    return nil
  }

  private mutating func countPacket() {
    guard receiptTarget > 0 else { return }
    packetsUntilReceipt -= 1
    guard packetsUntilReceipt == 0 else { return }
    packetsUntilReceipt = receiptTarget
    responses.append([0x11] + receivedInAll.littleEndianBytes)
  }
}
