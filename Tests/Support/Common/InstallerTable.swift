/// The table and the data after the program of an installer, in the form in which the script of
/// Nordic's bare-metal SDK writes them (`scripts/generate_metadata.py`): the number and the bytes
/// of each image.
package func installerTable(_ images: [(UInt8, [UInt8])]) -> [UInt8] {
  func word(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
  var table: [UInt8] = [0x92, 0x11, 0xF2, 0xE9]
  var data: [UInt8] = []
  for (number, bytes) in images {
    table += word(UInt32(number) << 12) + word(0x10000)
    table += word(UInt32(data.count)) + word(UInt32(bytes.count))
    table += word(crc32(bytes)) + [number, 0xFF, 0xFF, 0xFF]
    data += bytes
  }
  return table + word(crc32(table)) + data
}

/// The CRC32 of IEEE 802.3, computed bit by bit.
private func crc32(_ bytes: [UInt8]) -> UInt32 {
  var crc = UInt32.max
  for byte in bytes {
    crc ^= UInt32(byte)
    for _ in 0..<8 {
      let isOdd = crc & 1 == 1
      crc >>= 1
      if isOdd { crc ^= 0xEDB8_8320 }
    }
  }
  return ~crc
}
