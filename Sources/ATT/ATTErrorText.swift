/// Conforms to `Error`, so that a read handler can return a `Result` with this type.
extension ATTErrorCode: Error {}

extension ATTErrorCode: CustomStringConvertible {
  /// Whether the profile or the service defines the meaning of this code (Core 5.4, Vol 3, Part F,
  /// 3.4.1.1).
  public var isApplicationError: Bool { (0x80...0x9F).contains(rawValue) }

  /// The meaning with the code, such as `the link must be encrypted first (0x0F)`.
  public var description: String {
    let digits = String(rawValue, radix: 16, uppercase: true)
    return "\(meaning) (0x\(rawValue < 0x10 ? "0" : "")\(digits))"
  }

  /// The meaning of the code as a short phrase (Core 5.4, Vol 3, Part F, 3.4.1.1).
  public var meaning: String {
    switch self {
    case .invalidHandle: "no such attribute"
    case .readNotPermitted: "the attribute cannot be read"
    case .writeNotPermitted: "the attribute cannot be written"
    case .invalidPDU: "the request was malformed"
    case .insufficientAuthentication: "the devices must be paired first"
    case .requestNotSupported: "the request is not supported"
    case .invalidOffset: "the offset is beyond the value"
    case .insufficientAuthorization: "not authorized"
    case .prepareQueueFull: "too many prepared writes"
    case .attributeNotFound: "no such attribute in the range"
    case .attributeNotLong: "the attribute cannot be read or written in parts"
    case .encryptionKeySizeTooShort: "the encryption key is too short"
    case .invalidAttributeValueLength: "the value's length is not accepted"
    case .unlikelyError: "an unlikely error"
    case .insufficientEncryption: "the link must be encrypted first"
    case .unsupportedGroupType: "the group type is not supported"
    case .insufficientResources: "the device is out of resources"
    case .databaseOutOfSync: "the attributes of the device have changed"
    case .valueNotAllowed: "the value is not allowed"
    case .writeRequestRejected: "the write was rejected"
    case .clientConfigurationImproperlyConfigured: "indications are not enabled"
    case .procedureAlreadyInProgress: "a procedure is already in progress"
    case .outOfRange: "the value is out of range"
    case _ where isApplicationError: "an error of the application"
    case _ where rawValue >= 0xE0: "an error of a common profile"
    default: "a reserved error code"
    }
  }

  /// Whether the device requires pairing, encryption or another permission first.
  public var wantsRight: Bool {
    switch self {
    case .insufficientAuthentication, .insufficientAuthorization, .insufficientEncryption,
      .encryptionKeySizeTooShort:
      true
    default: false
    }
  }
}
