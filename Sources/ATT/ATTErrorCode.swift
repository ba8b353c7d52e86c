/// The error code of an Error Response (Core 5.4, Vol 3, Part F, 3.4.1.1). Codes 0x80…0x9F belong
/// to the application, 0xE0…0xFF to common profiles; unknown codes are kept as they are.
public struct ATTErrorCode: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public init(_ rawValue: UInt8) { self.rawValue = rawValue }

  public static let invalidHandle = ATTErrorCode(0x01)
  public static let readNotPermitted = ATTErrorCode(0x02)
  public static let writeNotPermitted = ATTErrorCode(0x03)
  public static let invalidPDU = ATTErrorCode(0x04)
  public static let insufficientAuthentication = ATTErrorCode(0x05)
  public static let requestNotSupported = ATTErrorCode(0x06)
  public static let invalidOffset = ATTErrorCode(0x07)
  public static let insufficientAuthorization = ATTErrorCode(0x08)
  public static let prepareQueueFull = ATTErrorCode(0x09)
  public static let attributeNotFound = ATTErrorCode(0x0A)
  public static let attributeNotLong = ATTErrorCode(0x0B)
  public static let encryptionKeySizeTooShort = ATTErrorCode(0x0C)
  public static let invalidAttributeValueLength = ATTErrorCode(0x0D)
  public static let unlikelyError = ATTErrorCode(0x0E)
  public static let insufficientEncryption = ATTErrorCode(0x0F)
  public static let unsupportedGroupType = ATTErrorCode(0x10)
  public static let insufficientResources = ATTErrorCode(0x11)
  public static let databaseOutOfSync = ATTErrorCode(0x12)
  public static let valueNotAllowed = ATTErrorCode(0x13)
  public static let writeRequestRejected = ATTErrorCode(0xFC)
  public static let clientConfigurationImproperlyConfigured = ATTErrorCode(0xFD)
  public static let procedureAlreadyInProgress = ATTErrorCode(0xFE)
  public static let outOfRange = ATTErrorCode(0xFF)
}
