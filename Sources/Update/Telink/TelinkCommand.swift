import OtaflashWire

/// A command of the host: a word of 0xFF00 or more, followed by its fields.
enum TelinkCommand: Equatable, Sendable {
  /// Starts a transfer with PDUs of 16 image bytes.
  case start
  /// Ends a transfer.
  case end(lastIndex: UInt16)
  /// Starts a transfer with longer PDUs.
  ///
  /// - Parameters:
  ///   - pduLength: the number of image bytes in a PDU: 16…240, a multiple of 16.
  ///   - comparesVersion: whether the device must have accepted the product version.
  case startExtended(pduLength: UInt8, comparesVersion: Bool)
  /// Requests the version of the product, and whether the device accepts this version.
  case requestVersion(UInt16)

  /// The number of reserved bytes of START_EXT.
  private static let reserved = 16

  var encoded: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .start: writer.uint16(0xFF01)
    case .end(let last):
      writer.uint16(0xFF02)
      writer.uint16(last)
      writer.uint16(~last)
    case .startExtended(let length, let comparesVersion):
      writer.uint16(0xFF03)
      writer.uint8(length)
      writer.uint8(comparesVersion ? 1 : 0)
      writer.bytes([UInt8](repeating: 0, count: Self.reserved))
    case .requestVersion(let version):
      writer.uint16(0xFF04)
      writer.uint16(version)
      writer.uint8(1)
    }
    return writer.bytes
  }
}

/// The data PDUs: index, image bytes, and CRC-16/MODBUS over both.
enum TelinkDataPDU {
  /// Encodes the PDU with this index.
  ///
  /// - Parameter image: up to the PDU length; a shorter last part is padded with 0xFF to a multiple
  ///   of 16 bytes.
  static func encoded(index: UInt16, _ image: ArraySlice<UInt8>) -> [UInt8] {
    var writer = ByteWriter()
    writer.uint16(index)
    writer.bytes(image)
    writer.bytes(
      [UInt8](repeating: 0xFF, count: TelinkOTA.padded(image.count) - image.count))
    writer.uint16(checksum(writer.bytes))
    return writer.bytes
  }

  /// The remainders of all bytes for the polynomial 0x8005, least significant bit first.
  private static let table: [UInt16] = (0..<256).map { byte in
    (0..<8).reduce(UInt16(byte)) { value, _ in
      value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xA001
    }
  }

  /// Returns the CRC-16/MODBUS. Check value: `123456789` yields `0x4B37`.
  static func checksum(_ bytes: [UInt8]) -> UInt16 {
    bytes.reduce(0xFFFF) { crc, byte in crc >> 8 ^ table[Int(UInt8(crc & 0xFF) ^ byte)] }
  }
}
