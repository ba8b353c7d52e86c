/// CRC16 with polynomial 0x1021 and initial value 0xFFFF, most significant bit first. Check value:
/// `123456789` yields `0x29B1`.
package enum CRC16 {
  package static func checksum(_ bytes: some Sequence<UInt8>) -> UInt16 {
    bytes.reduce(0xFFFF) { crc, byte in
      (0..<8).reduce(crc ^ UInt16(byte) << 8) { value, _ in
        value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x1021
      }
    }
  }
}
