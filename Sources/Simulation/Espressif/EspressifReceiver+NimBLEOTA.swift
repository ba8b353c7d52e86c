/// The Arduino library NimBLEOta (h2zero/NimBLEOta, `NimBLEOta.cpp`), which writes each sector to
/// flash before its answer.
extension EspressifReceiver {
  static let keepLimit = Duration.seconds(30)

  mutating func nimbleOTACommand(_ bytes: [UInt8]) {
    guard bytes.count == 20 else { return answerCommand(0, 1) }
    let id = bytes.littleEndianHalfword(at: 0)
    guard EspressifCRC.checksum(bytes[..<18]) == bytes.littleEndianHalfword(at: 18) else {
      return answerCommand(id, 1)
    }
    switch id {
    case 1 where isStarted: nimbleOTARestart(Self.startLength(bytes))
    case 1:
      total = Self.startLength(bytes)
      block = .erase
      erase(upTo: slotSize, for: .startErase)
    case 2 where isStarted:
      abortNimbleOTA()
      answerCommand(2, 0)
    default: answerCommand(id, 1)
    }
  }

  /// START during a transfer: the same size resumes it, another size ends it.
  private mutating func nimbleOTARestart(_ length: Int) {
    guard length == total else {
      abortNimbleOTA()
      return answerCommand(1, 1)
    }
    answerCommand(1, 0)
  }

  mutating func abortNimbleOTA() {
    (isStarted, total, sector, written, stored) = (false, 0, 0, 0, 0)
    clearSector()
  }

  mutating func nimbleOTAFirmware(_ bytes: [UInt8]) {
    guard isStarted, bytes.count >= 3 else { return }
    let number = bytes.littleEndianHalfword(at: 0)
    let isLast = bytes[2] == 0xFF
    if number != sector, number != 0xFFFF {
      guard isLast else { return }
      return answerNimbleOTA(number, 2)
    }
    guard !isLast || bytes.count >= 5 else {
      hasCrashed = true
      return
    }
    buffer += bytes.dropFirst(3).dropLast(isLast ? 2 : 0)
    guard buffer.count <= Self.bufferSize else {
      // The packet is written beyond the end of the heap block.
      hasCrashed = true
      return
    }
    guard isLast else {
      packet &+= 1
      return
    }
    let count = min(Self.sectorSize, buffer.count)
    if number != 0xFFFF, stored + count != total, buffer.count != Self.sectorSize {
      return answerNimbleOTA(number, 3)
    }
    guard EspressifCRC.checksum(buffer) == bytes.littleEndianHalfword(at: bytes.count - 2) else {
      return answerNimbleOTA(number, 1)
    }
    block = .sector(number, count: count)
    if !write(Array(buffer.prefix(count))) { failNimbleOTA() }
  }

  /// An error of the flash or of the image ends the transfer without an answer.
  private mutating func failNimbleOTA() {
    block = nil
    abortNimbleOTA()
  }

  mutating func nimbleOTAStored(_ isDone: Bool) {
    guard case .sector(let number, _) = block else { return }
    guard isDone else { return failNimbleOTA() }
    guard stored >= total else {
      block = nil
      return answerNimbleOTA(number, 0)
    }
    guard let image = receivedImage(of: total) else { return failNimbleOTA() }
    store(image)
  }

  /// Answers the last sector. Then the task of the Bluetooth host sleeps until the restart.
  mutating func nimbleOTAComplete(_ image: SlotImage) {
    guard case .sector(let number, _) = block else { return }
    answerNimbleOTA(number, 0)
    block = .restart
    restart = (image, .seconds(2))
  }

  private mutating func answerNimbleOTA(_ number: UInt16, _ status: UInt16) {
    answerFirmware(number, status, wanted: sector)
    clearSector()
    if status == 0 { sector &+= 1 }
  }
}
