/// So that a read handler can answer with a `Result`.
extension ATTErrorCode: Error {}

extension ATTErrorCode: CustomStringConvertible {
  /// Codes whose meaning the profile or service above defines (Core 5.4, Vol 3, Part F, 3.4.1.1).
  public var isApplicationError: Bool { (0x80...0x9F).contains(rawValue) }

  /// The cause in a few words with the code, such as `insufficient encryption (0x0F)`.
  public var description: String {
    let digits = String(rawValue, radix: 16, uppercase: true)
    return "\(cause) (0x\(rawValue < 0x10 ? "0" : "")\(digits))"
  }

  private var cause: String {
    switch self {
    case .invalidHandle: "no attribute has this handle"
    case .readNotPermitted: "reading is not permitted"
    case .writeNotPermitted: "writing is not permitted"
    case .invalidPDU: "the PDU was malformed"
    case .insufficientAuthentication: "insufficient authentication"
    case .requestNotSupported: "the request is not supported"
    case .invalidOffset: "the offset is beyond the end of the value"
    case .insufficientAuthorization: "insufficient authorization"
    case .prepareQueueFull: "too many prepared writes"
    case .attributeNotFound: "no such attribute in the range"
    case .attributeNotLong: "the attribute cannot be read in parts"
    case .encryptionKeySizeTooShort: "the encryption key is too short"
    case .invalidAttributeValueLength: "the value has a wrong length"
    case .unlikelyError: "an unlikely error on the device"
    case .insufficientEncryption: "insufficient encryption"
    case .unsupportedGroupType: "the attribute type is no group"
    case .insufficientResources: "the device lacks resources"
    case .databaseOutOfSync: "the device's attributes have changed"
    case .valueNotAllowed: "the value is not allowed"
    case .writeRequestRejected: "the write was rejected"
    case .clientConfigurationImproperlyConfigured:
      "notifications or indications are not configured"
    case .procedureAlreadyInProgress: "a procedure is already in progress"
    case .outOfRange: "the value is out of range"
    case _ where isApplicationError: "an error of the application"
    case _ where rawValue >= 0xE0: "an error of a common profile"
    default: "a reserved error code"
    }
  }
}
