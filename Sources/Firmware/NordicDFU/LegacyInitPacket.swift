/// The init packet of Legacy DFU (nRF5 SDK 11 and before): little-endian fields in a row.
public struct LegacyInitPacket: Equatable, Sendable {
  /// What the device compares the received firmware with. Packets up to version 0.5 end with a
  /// CRC16; later ones have an extension, whose first number says which.
  public enum Integrity: Equatable, Sendable {
    case crc16(UInt16)
    /// The SHA-256 of the firmware; `signature` is that of extension 2, 64 octets.
    case sha256([UInt8], firmwareSize: UInt32, signature: [UInt8]?)
  }

  /// The id that means any SoftDevice.
  public static let anySoftdevice: UInt16 = 0xFFFE
  static let softdeviceMaximum = 16

  public let deviceType: UInt16
  public let deviceRevision: UInt16
  public let applicationVersion: UInt32
  public let softdevices: [UInt16]
  public let integrity: Integrity

  /// Reads a packet whose length must be that of its fields.
  public init(decoding octets: [UInt8]) throws(InitPacketFault) {
    guard let deviceType = octets.littleEndian(UInt16.self, at: 0),
      let deviceRevision = octets.littleEndian(UInt16.self, at: 2),
      let applicationVersion = octets.littleEndian(UInt32.self, at: 4),
      let count = octets.littleEndian(UInt16.self, at: 8)
    else { throw octets.isEmpty ? .empty : .wrongLength(expected: 12, found: octets.count) }
    guard count <= Self.softdeviceMaximum else {
      throw .field("SoftDevice ids", offset: 8, "are more than \(Self.softdeviceMaximum)")
    }
    let softdevicesEnd = 10 + 2 * Int(count)
    guard octets.count >= softdevicesEnd else {
      throw .wrongLength(expected: softdevicesEnd + 2, found: octets.count)
    }
    self.deviceType = deviceType
    self.deviceRevision = deviceRevision
    self.applicationVersion = applicationVersion
    softdevices = (0..<Int(count)).compactMap { octets.littleEndian(at: 10 + 2 * $0) }
    integrity = try Self.integrity(octets[softdevicesEnd...])
  }

  private static func integrity(
    _ octets: ArraySlice<UInt8>
  ) throws(InitPacketFault) -> Integrity {
    let start = octets.startIndex
    func require(_ size: Int) throws(InitPacketFault) {
      guard octets.count == size else {
        throw .wrongLength(expected: start + size, found: octets.endIndex)
      }
    }
    if octets.count < 4 {
      try require(2)
      return .crc16(octets.littleEndian(at: start) ?? 0)
    }
    let kind: UInt32 = octets.littleEndian(at: start) ?? 0
    switch kind {
    case 0:
      try require(6)
      return .crc16(octets.littleEndian(at: start + 4) ?? 0)
    case 1, 2:
      try require(kind == 1 ? 40 : 104)
      return .sha256(
        Array(octets[(start + 8)..<(start + 40)]),
        firmwareSize: octets.littleEndian(at: start + 4) ?? 0,
        signature: kind == 1 ? nil : Array(octets[(start + 40)...]))
    default: throw .value("extension", UInt64(kind), offset: start)
    }
  }
}
