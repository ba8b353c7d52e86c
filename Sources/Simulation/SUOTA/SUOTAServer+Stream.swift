import OtaflashFirmware

/// The receiver of the DA1468x and DA1469x: PATCH_LEN only counts received bytes, and the CRC32 is
/// compared at the end.
extension SUOTAServer {
  /// The size of the buffer between PATCH_DATA and flash, in bytes.
  private static let bufferSize = 512

  /// Commands that the receiver does not know are ignored.
  mutating func streamCommand(_ value: UInt32) {
    switch value >> 24 {
    case 0x13:
      transfer = Transfer(memory: 0x13)
      hasStarted = true
      memoryInfo = 0
      report(.started)
    case 0xFD: request = restart
    case 0xFE: endStream()
    case 0xFF:
      transfer = nil
      report(.exit)
    default: break
    }
  }

  mutating func streamLength(_ length: Int) {
    patchLength = length
    transfer?.reportsBlocks = true
  }

  mutating func beginData(_ bytes: [UInt8]) {
    guard transfer != nil else { return }
    transfer?.received += bytes.count
    memoryInfo = transfer?.received ?? 0
    open = (bytes[...], bytes.count)
  }

  /// Processes PATCH_DATA up to the next flash operation.
  mutating func continueStream() {
    guard let (rest, count) = open, var transfer else {
      open = nil
      return
    }
    guard !transfer.hasFailed, !rest.isEmpty else {
      open = nil
      return transfer.hasFailed ? () : reportBytes(count)
    }
    let wanted = wantedBytes(transfer)
    // Bytes after the image, such as the XOR byte, are ignored.
    guard wanted > 0 else {
      open = (rest.dropFirst(rest.count), count)
      return
    }
    let part = rest.prefix(wanted - transfer.buffer.count)
    open = (rest.dropFirst(part.count), count)
    transfer.buffer += part
    self.transfer = transfer
    if transfer.buffer.count == wanted { consume() }
  }

  /// The number of bytes that the buffer must contain in the current state; 0 = the image is
  /// complete.
  private func wantedBytes(_ transfer: Transfer) -> Int {
    guard let header = transfer.header else { return SUOTAHeader.size(of: settings.chip) }
    let end = transfer.image.count < header.codeOffset ? header.codeOffset : header.imageSize
    return min(Self.bufferSize, end - transfer.image.count)
  }

  private mutating func consume() {
    guard var transfer else { return }
    let bytes = transfer.buffer
    transfer.buffer = []
    transfer.image += bytes
    if transfer.header == nil {
      guard let header = SUOTAHeader(bytes, of: settings.chip) else { return refuse(.header) }
      guard header.codeOffset >= bytes.count, header.codeSize > 0,
        header.imageSize <= parts.settings.slotSize
      else { return refuse(.size) }
      transfer.header = header
    }
    self.transfer = transfer
    _ = store(isLast: transfer.image.count == transfer.header?.imageSize, for: .buffer)
  }

  private mutating func refuse(_ status: Status) {
    if settings.asserts {
      request = .reset
      return
    }
    transfer?.hasFailed = true
    open = nil
    report(status)
  }

  /// Reports each PATCH_LEN received bytes; the remainder counts for the next report. A length of 0
  /// is an endless loop, which the watchdog ends.
  private mutating func reportBytes(_ count: Int) {
    guard var transfer, transfer.reportsBlocks else { return }
    guard patchLength > 0 else {
      request = .reset
      return
    }
    transfer.unreported += count
    while transfer.unreported >= patchLength {
      transfer.unreported -= patchLength
      report(.blockDone)
    }
    self.transfer = transfer
  }

  private mutating func endStream() {
    guard let transfer, !transfer.hasFailed else { return report(.checksum) }
    // Without any data, the checksum of nothing equals the empty header; nothing is activated.
    guard let header = transfer.header else { return report(.blockDone) }
    guard header.matches(transfer.image) else { return report(.checksum) }
    activate(transfer)
  }
}
