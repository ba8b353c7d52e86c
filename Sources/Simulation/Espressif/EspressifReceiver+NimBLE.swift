import OtaflashATT

/// Espressif's component ble_ota on NimBLE (espressif/esp-iot-solution, `nimble_ota.c`).
extension EspressifReceiver {
  mutating func nimbleCommand(_ bytes: [UInt8]) {
    guard bytes.count >= 6 else { return }
    switch bytes.littleEndianHalfword(at: 0) {
    case 1:
      (isStarted, total, sector) = (true, Self.startLength(bytes), 0)
      clearSector()
      answerCommand(1, 0)
    case 2:
      // The writer compares its count with this size at its next item.
      (isStarted, total, sector) = (false, 0, 0)
      clearSector()
      answerCommand(2, 0)
    default: break
    }
  }

  mutating func nimbleFirmware(_ bytes: [UInt8]) -> ATTErrorCode? {
    guard isStarted else { return nil }
    guard bytes.count >= 3 else { return .unlikelyError }
    let number = bytes.littleEndianHalfword(at: 0)
    let isLast = bytes[2] == 0xFF
    if number != sector, number != 0xFFFF {
      clearSector()
      answerFirmware(number, 2, wanted: sector)
      return .unlikelyError
    }
    if bytes[2] != packet {
      guard isLast else {
        clearSector()
        isOutOfOrder = true
        return .unlikelyError
      }
      if isOutOfOrder {
        clearSector()
        answerFirmware(number, 2, wanted: sector)
        return .unlikelyError
      }
    }
    if !isLast { isOutOfOrder = false }
    let data = bytes.dropFirst(3).dropLast(isLast ? 2 : 0)
    guard !isLast || bytes.count >= 5, buffer.count + data.count <= Self.bufferSize else {
      buffer = []
      return .unlikelyError
    }
    buffer += data
    guard isLast else {
      packet &+= 1
      return nil
    }
    let item = Array(buffer.prefix(Self.sectorSize))
    sector &+= 1
    clearSector()
    push(item, sector: number)
    return nil
  }
}
