/// The Packet characteristic: sizes, init packet or image, depending on the phase.
extension InfiniTimeReceiver {
  mutating func packetWritten(_ bytes: [UInt8]) {
    guard !settings.isDisabled else { return }
    switch phase {
    case .sizes: erase(for: bytes)
    case .initPacket(let received):
      guard received.count + bytes.count <= Self.initPacketBytesMaximum else {
        return answer(0x02, .sizeExceedsLimit)
      }
      phase = .initPacket(received + bytes)
    case .receiving: takeData(bytes)
    case .idle, .erasing, .ready, .initialized, .received, .validating, .validated, .activating:
      break
    }
  }

  /// Handles the sizes of SoftDevice, bootloader and application. Rejected sizes are answered
  /// immediately, accepted sizes after the erase.
  private mutating func erase(for sizes: [UInt8]) {
    phase = .idle
    guard sizes.count == 12 else { return answer(0x01, .failed) }
    let size = Int(sizes.littleEndianWord(at: 8))
    guard sizes.littleEndianWord(at: 0) == 0, sizes.littleEndianWord(at: 4) == 0, size > 0
    else { return answer(0x01, .notSupported) }
    guard size <= imageMaximum else { return answer(0x01, .sizeExceedsLimit) }
    imageSize = size
    (received, initPacket) = (0, nil)
    let pages = stride(from: slot, to: slot + size, by: parts.settings.layout.pageSize)
    // Data of an earlier host may still wait for the flash.
    guard queue.offer(pages.map { .erase(page: $0) }, for: .erase) else {
      return answer(0x01, .failed)
    }
    phase = .erasing
  }

  private mutating func takeData(_ bytes: [UInt8]) {
    guard bytes.count <= Self.packetBytesMaximum else {
      // The buffer overflows, and an assertion resets the watch.
      request = .reset
      return
    }
    guard received + bytes.count <= imageSize else { return answer(0x03, .sizeExceedsLimit) }
    let isLast = received + bytes.count == imageSize
    let alignment = parts.flash.geometry.writeAlignment
    guard !bytes.isEmpty, isLast || bytes.count.isMultiple(of: alignment),
      packetsInFlash < Self.packetBuffers, queue.hasRoom
    else { return answer(0x03, .failed) }
    let padding = (alignment - bytes.count % alignment) % alignment
    let words = bytes + [UInt8](repeating: 0xFF, count: padding)
    let isQueued = queue.offer([.write(words, at: slot + received)], for: .packet)
    precondition(isQueued, "the queue had room")
    packetsInFlash += 1
    received += bytes.count
    if isLast {
      phase = .received
      answer(0x03, .success)
    } else {
      countPacket()
    }
  }

  private mutating func countPacket() {
    guard receiptTarget > 0 else { return }
    packetsUntilReceipt -= 1
    guard packetsUntilReceipt == 0 else { return }
    packetsUntilReceipt = receiptTarget
    responses.append([0x11] + UInt32(received).littleEndianBytes)
  }
}
