import OtaflashFirmware
import OtaflashGATT

/// The blocks of an image, and their flash operations.
extension OADServer {
  private static let numberSize = 4
  /// The size of the core header and of the segment header before the code.
  private static let headerSize = OADImage.coreSize + 12
  /// The page size of the chip, to which the image must be aligned.
  private static let chipPage: UInt32 = 8192

  /// Handles a block of a transfer.
  mutating func receive(_ bytes: [UInt8], _ transfer: Transfer, at now: LinkInstant) {
    lastActivity = now
    var transfer = transfer
    let rest = transfer.length - transfer.bytes.count
    guard bytes.count == min(transfer.blockBytes, rest) + Self.numberSize,
      bytes.littleEndianWord(at: 0) == UInt32(transfer.count)
    else { return fail(.overflow, requesting: 0) }
    let offset = transfer.bytes.count
    transfer.bytes += bytes.dropFirst(Self.numberSize)
    transfer.count += 1
    var operations: [FlashOperation] = []
    switch settings.generation {
    case .bim:
      // The header is kept in RAM until it is complete.
      if !transfer.isErased {
        let isHeader = transfer.bytes.count >= Self.headerSize || transfer.isComplete
        if isHeader {
          if let problem = problem(of: transfer.bytes) {
            return fail(problem, requesting: transfer.count - 1)
          }
          operations = erasures(of: 0..<transfer.length) + [write(transfer.bytes, at: 0)]
          transfer.isErased = true
        }
      } else {
        operations = [write(Array(transfer.bytes[offset...]), at: offset)]
      }
    case .mcuboot:
      // Each page is erased by the first block that reaches it.
      operations =
        erasures(of: offset..<transfer.bytes.count)
        + [write(Array(transfer.bytes[offset...]), at: offset)]
    }
    phase = .receiving(transfer)
    guard !operations.isEmpty else { return stored(true) }
    offer(operations, for: .block)
  }

  /// Returns the erase operations of the pages that start in a range.
  private func erasures(of range: Range<Int>) -> [FlashOperation] {
    let page = parts.settings.layout.pageSize
    let first = (range.lowerBound + page - 1) / page * page
    return stride(from: first, to: range.upperBound, by: page).map { .erase(page: slot + $0) }
  }

  /// Returns a write of complete flash words.
  private func write(_ bytes: [UInt8], at offset: Int) -> FlashOperation {
    let padding = (4 - bytes.count % 4) % 4
    return .write(bytes + [UInt8](repeating: 0xFF, count: padding), at: slot + offset)
  }

  /// Returns the status that rejects the header of an image; `nil` if the header is correct.
  private func problem(of header: [UInt8]) -> Status? {
    guard header.count >= Self.headerSize else { return .incompatibleImage }
    let start = header.littleEndianWord(at: OADImage.coreSize + 8)
    return start % Self.chipPage == 0 ? nil : .incompatibleImage
  }

  mutating func offer(_ operations: [FlashOperation], for work: Work) {
    if !queue.offer(operations, for: work) { fail(.flash, requesting: 0) }
  }

  /// Handles the end of a flash operation.
  mutating func flashDone(_ isDone: Bool) {
    guard let work = queue.finishedOne() else {
      if !isDone { flashFailed = true }
      return
    }
    let isGood = isDone && !flashFailed
    flashFailed = false
    switch work {
    case .block: stored(isGood)
    case .enabling(let image): enabled(image, isGood)
    }
  }

  /// Answers a block after its flash operations.
  private mutating func stored(_ isGood: Bool) {
    // The transfer was cancelled while the flash was busy.
    guard case .receiving(let transfer) = phase else { return }
    guard isGood else { return fail(.flash, requesting: transfer.count) }
    guard transfer.isComplete else { return request(transfer.count, after: .success) }
    switch settings.generation {
    case .bim:
      guard isIntact(transfer) else { return fail(.checksum, requesting: transfer.count) }
      phase = .complete(transfer)
      request(0, after: .complete)
    case .mcuboot:
      phase = .complete(transfer)
      request(transfer.count, after: .complete)
    }
  }

  /// Compares the CRC32 of the image in flash.
  private func isIntact(_ transfer: Transfer) -> Bool {
    do throws(FlashFault) {
      let bytes = try parts.flash.read(slot..<slot + transfer.length)
      guard bytes.count >= OADImage.coreSize else { return false }
      return OADImage.checksum(of: bytes) == bytes.littleEndianWord(at: OADImage.crcOffset)
    } catch {
      parts.note(error)
      return false
    }
  }

  /// Discards a transfer after an error, and reports the status.
  mutating func fail(_ status: Status, requesting block: Int) {
    let isReset = settings.generation == .mcuboot
    if isReset { reset() }
    request(isReset ? 0 : block, after: status)
    if !isReset { reset() }
  }

  // MARK: Activation

  /// Marks the image for the bootloader.
  mutating func enable(_ transfer: Transfer) {
    var described = SlotImage(describing: transfer.bytes)
    described.version = OADSample.version(of: transfer.bytes, settings.generation)
    bootRecord.markPending(described)
    bootRecord.sequence += 1
    offer(loader.operations(storing: bootRecord), for: .enabling(described))
  }

  private mutating func enabled(_ image: SlotImage, _ isGood: Bool) {
    notify(.control, [0x04, (isGood ? Status.success : .flash).rawValue])
    isEnabled = isGood
  }
}
