/// Espressif's component ble_ota on Bluedroid (espressif/esp-iot-solution, `ble_ota.c`).
extension EspressifReceiver {
  mutating func bluedroidCommand(_ bytes: [UInt8]) {
    guard bytes.count >= 6 else { return }
    switch bytes.littleEndianHalfword(at: 0) {
    case 1 where isStarted: answerCommand(1, 1)
    case 1:
      // Neither the sector nor the buffer is reset.
      (isStarted, total) = (true, Self.startLength(bytes))
      answerCommand(1, 0)
    case 2 where isStarted:
      (isStarted, total) = (false, 0)
      answerCommand(2, 0)
    case 2: answerCommand(2, 1)
    default: break
    }
  }

  /// Stores every packet, also packets that are out of order or of another sector. The CRC in the
  /// last packet of a sector is stored as well.
  mutating func bluedroidFirmware(_ bytes: [UInt8]) {
    guard isStarted, bytes.count >= 3 else { return }
    let number = bytes.littleEndianHalfword(at: 0)
    if number != sector, number != 0xFFFF { answerFirmware(number, 2, wanted: sector) }
    buffer += bytes.dropFirst(3)
    guard buffer.count <= Self.bufferSize else {
      // The packet is written beyond the end of the heap block.
      hasCrashed = true
      return
    }
    guard bytes[2] == 0xFF else {
      packet &+= 1
      return
    }
    let padding = max(0, Self.sectorSize - buffer.count)
    let item = Array(buffer.prefix(Self.sectorSize)) + [UInt8](repeating: 0, count: padding)
    sector &+= 1
    clearSector()
    push(item, sector: number)
  }
}
