/// The Arduino library BLEOTA (gb88/BLEOTA, `BLEOTABase.cpp`), which erases and writes each sector
/// before its answer, and finishes the update at STOP. Signatures and compression are not modeled.
extension EspressifReceiver {
  mutating func bleOTACommand(_ bytes: [UInt8]) {
    // A command with a wrong CRC is not answered.
    guard bytes.count >= 20,
      EspressifCRC.checksum(bytes[..<18]) == bytes.littleEndianHalfword(at: 18)
    else { return }
    switch bytes.littleEndianHalfword(at: 0) {
    case 1:
      (isStarted, isUpdating, total) = (true, false, Self.startLength(bytes))
      (sector, written, stored) = (0, 0, 0)
      answerCommand(1, 0)
    case 2: stopBLEOTA()
    default: break
    }
  }

  private mutating func stopBLEOTA() {
    if stored != total { answerCommand(2, 1) }
    let isFinished = isUpdating && stored == total
    isUpdating = false
    // An invalid image is not answered, and neither is STOP before the first START.
    if isFinished, let image = receivedImage(of: total) { store(image) }
  }

  mutating func bleOTAFirmware(_ bytes: [UInt8]) {
    guard bytes.count >= 4 else { return }
    let number = bytes.littleEndianHalfword(at: 0)
    guard number == sector else { return answerFirmware(number, 2) }
    let isLast = bytes[2] == 0xFF
    guard !isLast || bytes.count >= 5 else { return }
    if bytes[2] == 0 { clearSector() }
    let data = bytes.dropFirst(3).dropLast(isLast ? 2 : 0)
    if counted == 0, written == 0 { isUpdating = true }
    // Bytes beyond the buffer only change the CRC.
    buffer += data
    counted += data.count
    guard isLast else { return }
    let received = buffer
    let size = counted
    clearSector()
    guard EspressifCRC.checksum(received) == bytes.littleEndianHalfword(at: bytes.count - 2) else {
      return answerFirmware(number, 1)
    }
    guard size <= Self.sectorSize, written + size <= total,
      write(received, erasing: true)
    else { return }
    block = .sector(number, count: size)
  }

  mutating func bleOTAStored(_ isDone: Bool) {
    guard case .sector(let number, _) = block else { return }
    block = nil
    guard isDone else { return }
    answerFirmware(number, 0)
    sector &+= 1
  }
}
