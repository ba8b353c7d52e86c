import OtaflashFirmware

/// The receiver of the DA1453x and DA1458x: each block has exactly PATCH_LEN bytes, and is reported
/// after it was written.
extension SUOTAServer {
  /// The highest number of a bank in a command that starts a transfer.
  private static let bankMaximum = 2
  /// The number of bytes that may follow the image: the XOR byte.
  private static let checksumSize = 1

  mutating func blockCommand(_ value: UInt32) {
    switch value >> 24 {
    case 0x12, 0x13:
      guard value & 0xFFFFFF <= Self.bankMaximum else { return report(.bank) }
      transfer = Transfer(memory: UInt8(value >> 24))
      patchLength = 0
      hasStarted = true
      report(.started)
    case 0xFD: request = restart
    case 0xFE: endBlocks()
    case 0xFF:
      transfer = nil
      report(.exit)
    default:
      transfer = nil
      report(.memoryType)
    }
    memoryInfo = 0
  }

  mutating func blockLength(_ length: Int) {
    guard length > 0 else { return report(.patchLength) }
    guard transfer != nil else { return }
    guard length <= settings.bufferSize else { return report(.bufferTooSmall) }
    patchLength = length
  }

  mutating func blockData(_ bytes: [UInt8]) {
    guard var transfer else { return report(.memoryType) }
    guard patchLength > 0 else { return report(.patchLength) }
    guard transfer.buffer.count + bytes.count <= settings.bufferSize else {
      return report(.bufferTooSmall)
    }
    transfer.buffer += bytes
    self.transfer = transfer
    if transfer.buffer.count == patchLength {
      storeBlock()
    } else if transfer.buffer.count > patchLength {
      report(.patchLength)
    }
  }

  private mutating func storeBlock() {
    guard var transfer else { return }
    let block = transfer.buffer
    transfer.buffer = []
    transfer.checksum = block.reduce(transfer.checksum, ^)
    self.transfer = transfer
    guard transfer.memory == (settings.memory == .spi ? 0x13 : 0x12) else {
      return report(.memoryType)
    }
    if transfer.image.isEmpty {
      switch checkedHeader(block) {
      case .failure(let refusal): return report(refusal.status)
      case .success(let header): transfer.header = header
      }
    }
    guard let header = transfer.header else { return report(.header) }
    let count = transfer.image.count + block.count
    guard count <= header.imageSize + Self.checksumSize else { return report(.flashWrite) }
    transfer.image += block.prefix(header.imageSize - transfer.image.count)
    self.transfer = transfer
    let isLast = transfer.image.count == header.imageSize
    if !store(isLast: isLast, for: .block) { blockStored() }
  }

  mutating func blockStored() {
    memoryInfo = transfer?.image.count ?? 0
    report(.blockDone)
  }

  /// The reason why the first block was refused.
  private struct Refusal: Error { let status: Status }

  /// Checks the first block, which must contain the complete header. Nothing is written before.
  private func checkedHeader(_ block: [UInt8]) -> Result<SUOTAHeader, Refusal> {
    guard let header = SUOTAHeader(block, of: settings.chip) else {
      return .failure(Refusal(status: .header))
    }
    // With wrong pins, the flash does not answer.
    guard pins == settings.pins, let other = flashHeader() else {
      return .failure(Refusal(status: .flashRead))
    }
    guard header.codeSize > 0, header.imageSize <= parts.settings.slotSize else {
      return .failure(Refusal(status: .size))
    }
    let held = SUOTAHeader(other, of: settings.chip)
    guard held?.identity != header.identity else { return .failure(Refusal(status: .sameImage)) }
    return .success(header)
  }

  private func flashHeader() -> [UInt8]? {
    do throws(FlashFault) {
      return try parts.flash.read(slot..<slot + SUOTAHeader.size(of: settings.chip))
    } catch {
      parts.note(error)
      return nil
    }
  }

  /// Compares only the XOR of all bytes. The valid flag is set even if bytes are missing; the
  /// bootloader then rejects the image because of its CRC32.
  private mutating func endBlocks() {
    guard let transfer else { return report(.flashWrite) }
    self.transfer = nil
    guard transfer.checksum == 0 else { return report(.checksum) }
    guard transfer.image.count >= 4, !transfer.hasFailed else { return report(.flashWrite) }
    activate(transfer)
  }
}
