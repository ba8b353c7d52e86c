import OtaflashWire

/// A value notified by the Control Point.
package enum LegacyDFUNotice: Equatable, Sendable {
  /// `10 opcode status`.
  case answer(LegacyDFUOpcode, LegacyDFUStatus)
  /// `10 07 01 bytes`: the answer to "report received".
  case received(bytes: Int)
  /// `11 bytes`: a receipt with the number of image bytes accepted so far.
  case receipt(bytes: Int)

  package init(decoding bytes: [UInt8]) throws(DFUDecodeFault) {
    switch bytes.first {
    case nil: throw .empty
    case LegacyDFUOpcode.receipt.rawValue:
      var reader = try ByteReader(Array(bytes.dropFirst()), of: "receipt", expecting: 4)
      self = try .receipt(bytes: Int(reader.uint32()))
    case LegacyDFUOpcode.response.rawValue: self = try Self.response(bytes)
    case .some(let opcode): throw .unknownOpcode(opcode)
    }
  }

  private static func response(_ bytes: [UInt8]) throws(DFUDecodeFault) -> LegacyDFUNotice {
    guard bytes.count >= 3 else {
      throw .wrongLength("response", bytes: bytes.count, expected: 3)
    }
    let opcode = LegacyDFUOpcode(rawValue: bytes[1])
    guard let status = LegacyDFUStatus(rawValue: bytes[2]) else {
      throw .unknownValue("status", bytes[2])
    }
    let payload = Array(bytes[3...])
    if opcode == .reportReceived && status == .success {
      var reader = try ByteReader(payload, of: "report of what was received", expecting: 4)
      return try .received(bytes: Int(reader.uint32()))
    }
    // A response is 3 bytes long; appended bytes have no meaning and are ignored.
    return .answer(opcode, status)
  }

  /// The encoded value, for the simulated device.
  package var encoded: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .answer(let opcode, let status):
      writer.bytes([LegacyDFUOpcode.response.rawValue, opcode.rawValue, status.rawValue])
    case .received(let bytes):
      writer.bytes([
        LegacyDFUOpcode.response.rawValue, LegacyDFUOpcode.reportReceived.rawValue,
        LegacyDFUStatus.success.rawValue,
      ])
      writer.uint32(UInt32(bytes))
    case .receipt(let bytes):
      writer.uint8(LegacyDFUOpcode.receipt.rawValue)
      writer.uint32(UInt32(bytes))
    }
    return writer.bytes
  }
}

/// The status in a response.
package enum LegacyDFUStatus: UInt8, Sendable, CaseIterable {
  case success = 1
  case invalidState = 2
  case notSupported = 3
  case sizeOverLimit = 4
  case checksumMismatch = 5
  case operationFailed = 6
}
