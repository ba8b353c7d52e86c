import OtaflashWire

/// Results of the Control Point other than success (1) and "extended" (0x0B).
package enum SecureDFUResult: UInt8, Sendable, CaseIterable {
  case invalidCode = 0x00
  case opcodeNotSupported = 0x02
  case invalidParameter = 0x03
  case insufficientResources = 0x04
  /// The object is invalid, the signature is wrong, or the init packet cannot be parsed.
  case invalidObject = 0x05
  case unsupportedType = 0x07
  case operationNotPermitted = 0x08
  case operationFailed = 0x0A
}

/// The code after the result 0x0B: the failed check of the init packet or of the image.
package enum SecureDFUExtendedError: UInt8, Sendable, CaseIterable {
  case none = 0x00
  case invalidErrorCode = 0x01
  case wrongCommandFormat = 0x02
  case unknownCommand = 0x03
  case initCommandInvalid = 0x04
  case firmwareVersionTooLow = 0x05
  case hardwareVersionDiffers = 0x06
  case softDeviceNotListed = 0x07
  case signatureMissing = 0x08
  case wrongHashType = 0x09
  case hashFailed = 0x0A
  case wrongSignatureType = 0x0B
  case imageHashMismatch = 0x0C
  case insufficientSpace = 0x0D
  case alreadyPresent = 0x0E
}

/// The reason why the device refused a request.
package enum SecureDFURefusal: Error, Equatable, Hashable, Sendable {
  case result(SecureDFUResult)
  case extended(SecureDFUExtendedError)
  /// A result that no published bootloader uses.
  case undefined(UInt8)
  /// An extended error that no published bootloader uses.
  case undefinedExtended(UInt8)

  private static let extendedResult: UInt8 = 0x0B

  init(result: UInt8, payload: [UInt8]) throws(DFUDecodeFault) {
    if result == Self.extendedResult {
      var reader = try ByteReader(payload, of: "extended error", expecting: 1)
      let code = try reader.uint8()
      self =
        SecureDFUExtendedError(rawValue: code).map { .extended($0) }
        ?? .undefinedExtended(code)
    } else {
      self = SecureDFUResult(rawValue: result).map { .result($0) } ?? .undefined(result)
    }
  }

  /// The result and the extended error, if there is one.
  var encoded: [UInt8] {
    switch self {
    case .result(let result): [result.rawValue]
    case .extended(let error): [Self.extendedResult, error.rawValue]
    case .undefined(let result): [result]
    case .undefinedExtended(let code): [Self.extendedResult, code]
    }
  }

  /// The code in the notation of Nordic's documents: `5`, or `11/6` with the extended error.
  package var code: String {
    encoded.map { String($0) }.joined(separator: "/")
  }
}
