import OtaflashATT

/// The attributes and sizes of Espressif's OTA service.
package enum EspressifOTA {
  package static let service = BluetoothUUID(0x8018)
  /// Firmware packets (write), and the answer to each sector (notify, indicate or both).
  package static let firmware = BluetoothUUID(0x8020)
  /// The progress of a transfer (read); missing in the Arduino libraries.
  package static let progress = BluetoothUUID(0x8021)
  /// Commands (write), and their answers (notify, indicate or both).
  package static let command = BluetoothUUID(0x8022)

  /// The number of image bytes in a sector. The device sends one answer for each sector.
  package static let sectorSize = 4096
  /// The number of bytes before the data of a packet: sector and sequence number.
  static let headerSize = 3
  /// The size of the CRC after the data of a sector's last packet.
  static let checksumSize = 2
  /// The longest value that every device accepts.
  static let valueMaximum = 512
  /// The minimum number of data bytes in a packet: a sector has at most 255 packets.
  static let dataMinimum = 17
  /// The sequence number of a sector's last packet.
  static let lastPacket: UInt8 = 0xFF
  /// A sector number that no image reaches; 0xFFFF has a meaning for some devices.
  static let markerSector: UInt16 = 0xFFFE
  /// The largest image in bytes.
  static let imageMaximum = Int(markerSector) * sectorSize
}

/// CRC-16/XMODEM: polynomial 0x1021, initial value 0, most significant bit first. Check value:
/// `123456789` yields 0x31C3.
package enum EspressifChecksum {
  private static let table: [UInt16] = (0..<256).map { byte in
    (0..<8).reduce(UInt16(byte) << 8) { crc, _ in
      crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021
    }
  }

  package static func checksum(_ bytes: some Sequence<UInt8>) -> UInt16 {
    bytes.reduce(0) { crc, byte in crc << 8 ^ table[Int(UInt8(crc >> 8) ^ byte)] }
  }
}
