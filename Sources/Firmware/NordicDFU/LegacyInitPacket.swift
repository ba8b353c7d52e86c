/// The init packet of Legacy DFU (nRF5 SDK 11 and before): consecutive little-endian fields.
public struct LegacyInitPacket: Equatable, Sendable {
  /// The value with which the device verifies the received firmware. Packets of version 0.5 and
  /// before end with a CRC16; later packets have an extension whose first number states its kind.
  public enum Integrity: Equatable, Sendable {
    /// CRC-16-CCITT of the image.
    case crc16(UInt16)
    /// The SHA-256 of the firmware. `signature` belongs to extension 2 and has 64 bytes: R and S of
    /// ECDSA P-256 over the preceding bytes of the packet, both big-endian.
    case sha256([UInt8], firmwareSize: UInt32, signature: [UInt8]?)
  }

  /// The id that matches any SoftDevice.
  public static let anySoftdevice: UInt16 = 0xFFFE
  /// The type and the revision that match any device; the tools use these values by default.
  public static let anyDevice: UInt16 = 0xFFFF
  /// The version that means "not stated"; the tools use this value by default.
  public static let anyVersion: UInt32 = 0xFFFF_FFFF
  /// The maximum size of a packet in bytes that bootloaders support.
  static let bytesMaximum = 128
  /// The size of an ECDSA P-256 signature in bytes.
  static let signatureSize = 64

  /// The type of the device; 0xFFFF for any.
  public let deviceType: UInt16
  /// The device's revision; 0xFFFF for any.
  public let deviceRevision: UInt16
  /// The application's version; 0xFFFFFFFF = not stated.
  public let applicationVersion: UInt32
  /// The accepted SoftDevices, by their numbers; 0xFFFE for any.
  public let softdevices: [UInt16]
  /// The number of the extension, 0 to 2; `nil` if the packet has no extension.
  public let extensionNumber: UInt32?
  /// The value with which the bootloader verifies the image.
  public let integrity: Integrity

  /// Decodes a packet, whose length must match its fields.
  public init(decoding bytes: [UInt8]) throws(InitPacketFault) {
    guard let deviceType = bytes.littleEndian(UInt16.self, at: 0),
      let deviceRevision = bytes.littleEndian(UInt16.self, at: 2),
      let applicationVersion = bytes.littleEndian(UInt32.self, at: 4),
      let count = bytes.littleEndian(UInt16.self, at: 8)
    else { throw bytes.isEmpty ? .empty : .wrongLength(expected: 12, found: bytes.count) }
    guard max(12 + 2 * Int(count), bytes.count) <= Self.bytesMaximum else {
      throw .field(
        "SoftDevice ids", offset: 8, "do not fit into the \(Self.bytesMaximum) bytes of a packet")
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
