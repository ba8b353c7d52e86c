import OtaflashWire

/// A value notified by the Control Point.
package enum LegacyDFUNotice: Equatable, Sendable {
  /// `10 opcode status`.
  case answer(LegacyDFUOpcode, LegacyDFUStatus)
  /// `10 07 01 octets`: the answer to "report received".
  case received(octets: Int)
  /// `11 octets`: a receipt, the octets of image taken so far.
  case receipt(octets: Int)

  package init(decoding bytes: [UInt8]) throws(DFUDecodeFault) {
    switch bytes.first {
    case nil: throw .empty
    case LegacyDFUOpcode.receipt.rawValue:
      var reader = try DFUReader(Array(bytes.dropFirst()), of: "receipt", expecting: 4)
      self = try .receipt(octets: Int(reader.uint32()))
    case LegacyDFUOpcode.response.rawValue: self = try Self.response(bytes)
    case .some(let opcode): throw .unknownOpcode(opcode)
    }
  }

  private static func response(_ bytes: [UInt8]) throws(DFUDecodeFault) -> LegacyDFUNotice {
    guard bytes.count >= 3 else {
      throw .wrongLength("response", octets: bytes.count, expected: 3)
    }
    let opcode = LegacyDFUOpcode(rawValue: bytes[1])
    guard let status = LegacyDFUStatus(rawValue: bytes[2]) else {
      throw .unknownValue("status", bytes[2])
    }
    let payload = Array(bytes[3...])
    if opcode == .reportReceived && status == .success {
      var reader = try DFUReader(payload, of: "report of what was received", expecting: 4)
      return try .received(octets: Int(reader.uint32()))
    }
    // A response is 3 octets long; what a device appends has no meaning and is left alone.
    return .answer(opcode, status)
  }

  /// For the device's side.
  package var encoded: [UInt8] {
    var writer = OctetWriter()
    switch self {
    case .answer(let opcode, let status):
      writer.octets([LegacyDFUOpcode.response.rawValue, opcode.rawValue, status.rawValue])
    case .received(let octets):
      writer.octets([
        LegacyDFUOpcode.response.rawValue, LegacyDFUOpcode.reportReceived.rawValue,
        LegacyDFUStatus.success.rawValue,
      ])
      writer.uint32(UInt32(octets))
    case .receipt(let octets):
      writer.uint8(LegacyDFUOpcode.receipt.rawValue)
      writer.uint32(UInt32(octets))
    }
    return writer.octets
  }
}

/// How a device answered a request.
package enum LegacyDFUStatus: UInt8, Sendable, CaseIterable {
  case success = 1
  case invalidState = 2
  case notSupported = 3
  case sizeOverLimit = 4
  case checksumMismatch = 5
  case operationFailed = 6
}
