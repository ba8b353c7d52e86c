/// The init packet of an image for legacy DFU: which device it is for, and its CRC16.
struct LegacyInitPacket: Equatable, Sendable {
  /// A type or revision that fits every device.
  static let any: UInt16 = 0xFFFF
  /// A SoftDevice id that fits every SoftDevice.
  static let anySoftDevice: UInt16 = 0xFFFE
  /// Bytes with no SoftDevice listed.
  private static let emptyBytes = 12

  let deviceType: UInt16
  let deviceRevision: UInt16
  let applicationVersion: UInt32
  let softDevices: [UInt16]
  let crc16: UInt16

  /// Reads the beginning; what follows it is padding. `nil` when it is shorter than the list that
  /// it announces.
  init?(decoding bytes: [UInt8]) {
    guard bytes.count >= Self.emptyBytes else { return nil }
    let count = Int(bytes.littleEndianHalfword(at: 8))
    guard bytes.count >= Self.emptyBytes + 2 * count else { return nil }
    deviceType = bytes.littleEndianHalfword(at: 0)
    deviceRevision = bytes.littleEndianHalfword(at: 2)
    applicationVersion = bytes.littleEndianWord(at: 4)
    softDevices = (0..<count).map { bytes.littleEndianHalfword(at: 10 + 2 * $0) }
    crc16 = bytes.littleEndianHalfword(at: 10 + 2 * count)
  }

  func fits(_ settings: LegacyBootloaderSettings) -> Bool {
    [Self.any, settings.deviceType].contains(deviceType)
      && [Self.any, settings.deviceRevision].contains(deviceRevision)
      && (softDevices.contains(settings.softDevice) || softDevices.contains(Self.anySoftDevice))
  }
}
