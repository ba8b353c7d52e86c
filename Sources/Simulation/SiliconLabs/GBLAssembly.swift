import OtaflashFirmware

/// Builds GBL files with one program tag.
enum GBLAssembly {
  /// The address of the application's area.
  static let applicationAddress: UInt32 = 0x0001_2000
  private static let bluetoothApplication: UInt32 = 0x20

  /// - Parameter version: the version in the application tag.
  static func file(_ program: [UInt8], version: UInt32) -> [UInt8] {
    var bytes = tag(0x03A6_17EB, UInt32(0x0300_0000).littleEndianBytes + [0, 0, 0, 0])
    bytes += tag(
      0xF40A_0AF4,
      bluetoothApplication.littleEndianBytes + version.littleEndianBytes
        + [UInt8](repeating: 0, count: 20))
    bytes += tag(0xFD03_03FD, applicationAddress.littleEndianBytes + program)
    bytes += UInt32(0xFC04_04FC).littleEndianBytes + UInt32(4).littleEndianBytes
    return bytes + CRC32.checksum(bytes).littleEndianBytes
  }

  private static func tag(_ id: UInt32, _ payload: [UInt8]) -> [UInt8] {
    id.littleEndianBytes + UInt32(payload.count).littleEndianBytes + payload
  }
}
