/// The init packet of Legacy DFU (nRF5 SDK 11 and before): little-endian fields in a row.
public struct LegacyInitPacket: Equatable, Sendable {
  /// What the device compares the received firmware with. Packets of version 0.5 and before end
  /// with a CRC16; later ones have an extension, whose first number says which.
  public enum Integrity: Equatable, Sendable {
    /// CRC-16-CCITT of the image.
    case crc16(UInt16)
    /// The SHA-256 of the firmware. `signature` is that of extension 2, 64 bytes: R and S of ECDSA
    /// P-256 over all of the packet before it, each with its first byte first.
    case sha256([UInt8], firmwareSize: UInt32, signature: [UInt8]?)
  }

  /// The id that means any SoftDevice.
  public static let anySoftdevice: UInt16 = 0xFFFE
  /// The type and the revision that mean any device, as tools write them by default.
  public static let anyDevice: UInt16 = 0xFFFF
  /// The version that no application has, as tools write it by default.
  public static let anyVersion: UInt32 = 0xFFFF_FFFF
  /// Bytes of the longest packet that bootloaders have room for.
  static let bytesMaximum = 128
  /// Of ECDSA P-256, in bytes.
  static let signatureSize = 64

  /// The kind of device; 0xFFFF for any.
  public let deviceType: UInt16
  /// The device's revision; 0xFFFF for any.
  public let deviceRevision: UInt16
  /// The application's version; 0xFFFFFFFF for none.
  public let applicationVersion: UInt32
  /// The SoftDevices that will do, by their numbers; 0xFFFE for any.
  public let softdevices: [UInt16]
  /// The number of the extension, 0 to 2; `nil` for a packet without one.
  public let extensionNumber: UInt32?
  /// What the bootloader compares the image with.
  public let integrity: Integrity

  /// Reads a packet whose length must be that of its fields.
  public init(decoding bytes: [UInt8]) throws(InitPacketFault) {
    guard let deviceType = bytes.littleEndian(UInt16.self, at: 0),
      let deviceRevision = bytes.littleEndian(UInt16.self, at: 2),
      let applicationVersion = bytes.littleEndian(UInt32.self, at: 4),
      let count = bytes.littleEndian(UInt16.self, at: 8)
    else { throw bytes.isEmpty ? .empty : .wrongLength(expected: 12, found: bytes.count) }
    guard max(12 + 2 * Int(count), bytes.count) <= Self.bytesMaximum else {
      throw .field(
        "SoftDevice ids", offset: 8, "are too many for the \(Self.bytesMaximum) bytes of a packet")
    }
    let softdevicesEnd = 10 + 2 * Int(count)
    guard bytes.count >= softdevicesEnd else {
      throw .wrongLength(expected: softdevicesEnd + 2, found: bytes.count)
    }
    self.deviceType = deviceType
    self.deviceRevision = deviceRevision
    self.applicationVersion = applicationVersion
    softdevices = (0..<Int(count)).compactMap { bytes.littleEndian(at: 10 + 2 * $0) }
    (extensionNumber, integrity) = try Self.integrity(bytes[softdevicesEnd...])
  }

  private static func integrity(
    _ bytes: ArraySlice<UInt8>
  ) throws(InitPacketFault) -> (extensionNumber: UInt32?, Integrity) {
    let start = bytes.startIndex
    func require(_ size: Int) throws(InitPacketFault) {
      guard bytes.count == size else {
        throw .wrongLength(expected: start + size, found: bytes.endIndex)
      }
    }
    if bytes.count < 4 {
      try require(2)
      return (nil, .crc16(bytes.littleEndian(at: start) ?? 0))
    }
    let kind: UInt32 = bytes.littleEndian(at: start) ?? 0
    switch kind {
    case 0:
      try require(6)
      return (kind, .crc16(bytes.littleEndian(at: start + 4) ?? 0))
    case 1, 2:
      try require(kind == 1 ? 40 : 40 + signatureSize)
      let integrity = Integrity.sha256(
        Array(bytes[(start + 8)..<(start + 40)]),
        firmwareSize: bytes.littleEndian(at: start + 4) ?? 0,
        signature: kind == 1 ? nil : Array(bytes[(start + 40)...]))
      return (kind, integrity)
    default: throw .value("extension", UInt64(kind), offset: start)
    }
  }
}
