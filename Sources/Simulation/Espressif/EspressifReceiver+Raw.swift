import OtaflashATT

/// Espressif's component ble_ota_raw and its example (espressif/esp-iot-solution,
/// `esp_ble_ota_raw.c`, `esp_ble_ota_svc.c`, `ble_ota_raw.c`).
extension EspressifReceiver {
  private static let valueMaximum = 512

  mutating func rawCommand(_ bytes: [UInt8]) -> ATTErrorCode? {
    guard (1...Self.valueMaximum).contains(bytes.count) else { return .invalidAttributeValueLength }
    guard bytes.count >= 2 else { return nil }
    let id = bytes.littleEndianHalfword(at: 0)
    guard bytes.count == 20,
      EspressifCRC.checksum(bytes[..<18]) == bytes.littleEndianHalfword(at: 18)
    else {
      answerCommand(id, 1)
      return nil
    }
    switch id {
    case 1: rawStart(Self.startLength(bytes))
    case 2 where isStarted:
      resetRaw()
      answerCommand(2, 0)
    default: answerCommand(id, 1)
    }
    return nil
  }

  private mutating func resetRaw() {
    (isStarted, total, sector) = (false, .max, 0)
    clearSector()
  }

  /// Erases the pages of the image before the answer.
  private mutating func rawStart(_ length: Int) {
    guard !isStarted, length > 0, length <= slotSize else { return answerCommand(1, 1) }
    // A second `esp_ota_begin` writes from the start, but the writer keeps its count.
    (total, sector, written) = (length, 0, 0)
    clearSector()
    block = .erase
    erase(upTo: length, for: .startErase)
  }

  mutating func rawStarted() {
    isStarted = true
    let window = max(1, min(64, parts.settings.ringSize / Self.sectorSize))
    answerCommand(1, 0, window: UInt8(window))
  }

  mutating func rawFirmware(_ bytes: [UInt8]) -> ATTErrorCode? {
    guard (1...Self.valueMaximum).contains(bytes.count) else { return .invalidAttributeValueLength }
    guard bytes.count >= 3, isStarted else { return nil }
    let number = bytes.littleEndianHalfword(at: 0)
    let isLast = bytes[2] == 0xFF
    func refuse(_ status: UInt16) { answerFirmware(number, status, wanted: sector) }
    if number != sector {
      refuse(2)
      return nil
    }
    if !isLast, bytes[2] != packet {
      refuse(3)
      return nil
    }
    if isLast, bytes.count < 5 {
      refuse(3)
      return nil
    }
    let data = bytes.dropFirst(3).dropLast(isLast ? 2 : 0)
    guard buffer.count + data.count <= Self.sectorSize else {
      clearSector()
      refuse(3)
      return nil
    }
    buffer += data
    guard isLast else {
      packet &+= 1
      return nil
    }
    guard EspressifCRC.checksum(buffer) == bytes.littleEndianHalfword(at: bytes.count - 2) else {
      clearSector()
      refuse(1)
      return nil
    }
    let item = buffer
    sector &+= 1
    clearSector()
    if item.isEmpty {
      answerFirmware(number, 0, wanted: sector)
    } else {
      push(item, sector: number)
    }
    return nil
  }
}
