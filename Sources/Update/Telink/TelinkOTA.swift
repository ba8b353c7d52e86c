import OtaflashATT

/// The attributes and the limits of Telink's OTA service.
enum TelinkOTA {
  /// The service, in both byte orders: some firmware declares the bytes of its UUIDs in the
  /// opposite order.
  static let services: [BluetoothUUID] = [
    "00010203-0405-0607-0809-0a0b0c0d1912", "12190d0c-0b0a-0908-0706-050403020100",
  ]
  /// The only characteristic: commands, data PDUs and notifications.
  static let characteristics: [BluetoothUUID] = [
    "00010203-0405-0607-0809-0a0b0c0d2b12", "122b0d0c-0b0a-0908-0706-050403020100",
  ]

  /// The number of image bytes in a PDU without START_EXT, and the unit of longer PDUs.
  static let unit = 16
  /// The maximum number of image bytes in a PDU.
  static let pduMaximum = 240
  /// The bytes of a write in addition to the image bytes: index and checksum.
  static let pduOverhead = 4
  /// The bytes of an ATT PDU in addition to the image bytes: opcode, handle, index and checksum.
  static let attOverhead = pduOverhead + 3
  /// The maximum number of PDUs of an image: indices from 0xFF00 are commands.
  static let pdusMaximum = 0xFF00
  /// The time that a chip needs to write 16 bytes to its flash, during which it processes nothing
  /// else: 130 to 160 µs.
  static let flashTimePerUnit = Duration.microseconds(145)

  /// Returns the number of data bytes in a PDU with `rest` image bytes: `rest`, rounded up to a
  /// multiple of 16.
  static func padded(_ rest: Int) -> Int { (rest + unit - 1) / unit * unit }
}

extension UpdateProtocol {
  /// Telink's OTA service, legacy and extended.
  public static let telink = UpdateProtocol(
    "telink", carrying: "a Telink image (a .bin file with KNLT at offset 8 and a CRC32 at the end)")
}
