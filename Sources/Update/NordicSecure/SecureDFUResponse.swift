import OtaflashWire

/// The progress of the device with an object: the number of accepted bytes, and their CRC32 (IEEE).
/// For the pieces of an image, both values count from the first byte of the image.
package struct SecureDFUProgress: Equatable, Sendable {
  package let offset: Int
  package let crc32: UInt32

  package init(offset: Int, crc32: UInt32) {
    self.offset = offset
    self.crc32 = crc32
  }
}

/// The response to select: the progress of the device and its maximum object size.
package struct SecureDFUSelection: Equatable, Sendable {
  package let sizeMaximum: Int
  package let progress: SecureDFUProgress

  package init(sizeMaximum: Int, progress: SecureDFUProgress) {
    self.sizeMaximum = sizeMaximum
    self.progress = progress
  }
}

/// A value notified by the Control Point: `60 opcode result [payload]`.
package enum SecureDFUResponse: Equatable, Sendable {
  /// Success without a payload, or with a payload that no code uses. Over Bluetooth LE, this is the
  /// only successful response to create, execute, set receipt notification and every request for
  /// versions.
  case done(SecureDFUOpcode)
  case selected(SecureDFUSelection)
  /// The response to checksum, or a receipt with the same format. The previous requests distinguish
  /// them (`SecureDFUReceipts`).
  case progress(SecureDFUProgress)
  case refused(SecureDFUOpcode, SecureDFURefusal)

  /// The opcode of the request that was answered; `.checksum` for a receipt, too.
  package var opcode: SecureDFUOpcode {
    switch self {
    case .done(let opcode), .refused(let opcode, _): opcode
    case .selected: .select
    case .progress: .checksum
    }
  }

  /// The header: response code, opcode, result.
  private static let headerSize = 3
  private static let success: UInt8 = 0x01

  package init(decoding bytes: [UInt8]) throws(DFUDecodeFault) {
    guard let first = bytes.first else { throw .empty }
    guard first == SecureDFUOpcode.response.rawValue else { throw .unknownOpcode(first) }
    guard bytes.count >= Self.headerSize else {
      throw .wrongLength("response", bytes: bytes.count, expected: Self.headerSize)
    }
    let opcode = SecureDFUOpcode(rawValue: bytes[1])
    let payload = Array(bytes[Self.headerSize...])
    guard bytes[2] == Self.success else {
      self = .refused(opcode, try SecureDFURefusal(result: bytes[2], payload: payload))
      return
    }
    switch opcode {
    case .select:
      var reader = try ByteReader(payload, of: "select response", expecting: 12)
      let sizeMaximum = try Int(reader.uint32())
      self = .selected(
        SecureDFUSelection(sizeMaximum: sizeMaximum, progress: try SecureDFUProgress(&reader)))
    case .checksum:
      var reader = try ByteReader(payload, of: "checksum response", expecting: 8)
      self = .progress(try SecureDFUProgress(&reader))
    default:
      // The payloads of other operations (a version, an MTU) are ignored, because no code uses
      // them.
      self = .done(opcode)
    }
  }

  /// The encoded response, for the simulated device.
  package var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.uint8(SecureDFUOpcode.response.rawValue)
    writer.uint8(opcode.rawValue)
    switch self {
    case .done: writer.uint8(Self.success)
    case .selected(let selection):
      writer.uint8(Self.success)
      writer.uint32(UInt32(selection.sizeMaximum))
      selection.progress.encode(to: &writer)
    case .progress(let progress):
      writer.uint8(Self.success)
      progress.encode(to: &writer)
    case .refused(_, let refusal): writer.bytes(refusal.encoded)
    }
    return writer.bytes
  }
}

extension SecureDFUProgress {
  fileprivate init(_ reader: inout ByteReader<DFUDecodeFault>) throws(DFUDecodeFault) {
    offset = try Int(reader.uint32())
    crc32 = try reader.uint32()
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.uint32(UInt32(offset))
    writer.uint32(crc32)
  }
}
