/// The init packet of an image for legacy DFU: the devices that the image is for, and the CRC16 of
/// the image.
struct LegacyInitPacket: Equatable, Sendable {
  /// The type or revision that matches every device.
  static let any: UInt16 = 0xFFFF
  /// The SoftDevice id that matches every SoftDevice.
  static let anySoftDevice: UInt16 = 0xFFFE
  /// The size of an init packet without a SoftDevice list, in bytes.
  private static let emptyBytes = 12

  let deviceType: UInt16
  let deviceRevision: UInt16
  let applicationVersion: UInt32
  let softDevices: [UInt16]
  let crc16: UInt16

  /// Decodes the start of the bytes; the rest is padding. Returns `nil` if the bytes are too short
  /// for the announced list.
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
