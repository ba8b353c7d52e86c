/// The error code of an Error Response (Core 5.4, Vol 3, Part F, 3.4.1.1). Codes 0x80…0x9F belong
/// to the application, 0xE0…0xFF to common profiles; unknown codes are kept unchanged.
public struct ATTErrorCode: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// Creates the code with this value; reserved values are permitted.
  public init(_ rawValue: UInt8) { self.rawValue = rawValue }

  /// The handle is not valid on this server.
  public static let invalidHandle = ATTErrorCode(0x01)
  /// The attribute cannot be read.
  public static let readNotPermitted = ATTErrorCode(0x02)
  /// The attribute cannot be written.
  public static let writeNotPermitted = ATTErrorCode(0x03)
  /// The request is malformed.
  public static let invalidPDU = ATTErrorCode(0x04)
  /// The attribute requires an authenticated link.
  public static let insufficientAuthentication = ATTErrorCode(0x05)
  /// The server does not support the request.
  public static let requestNotSupported = ATTErrorCode(0x06)
  /// The offset is beyond the end of the value.
  public static let invalidOffset = ATTErrorCode(0x07)
  /// The attribute requires authorization.
  public static let insufficientAuthorization = ATTErrorCode(0x08)
  /// Too many writes are prepared.
  public static let prepareQueueFull = ATTErrorCode(0x09)
  /// The requested range contains no such attribute.
  public static let attributeNotFound = ATTErrorCode(0x0A)
  /// The value cannot be read or written in parts.
  public static let attributeNotLong = ATTErrorCode(0x0B)
  /// The encryption key of the link is shorter than the attribute requires.
  public static let encryptionKeySizeTooShort = ATTErrorCode(0x0C)
  /// The length of the value is not valid for the attribute.
  public static let invalidAttributeValueLength = ATTErrorCode(0x0D)
  /// The server failed with an error that no other code describes.
  public static let unlikelyError = ATTErrorCode(0x0E)
  /// The attribute requires an encrypted link.
  public static let insufficientEncryption = ATTErrorCode(0x0F)
  /// The type cannot be used to group attributes.
  public static let unsupportedGroupType = ATTErrorCode(0x10)
  /// The server has insufficient resources.
  public static let insufficientResources = ATTErrorCode(0x11)
  /// The server's attributes have changed; they must be discovered again.
  public static let databaseOutOfSync = ATTErrorCode(0x12)
  /// The value is not allowed (Core 5.4).
  public static let valueNotAllowed = ATTErrorCode(0x13)
  /// The write cannot be executed, for a reason other than permissions (Core Specification
  /// Supplement, Part B, 1.2, which also defines the next three codes).
  public static let writeRequestRejected = ATTErrorCode(0xFC)
  /// The Client Characteristic Configuration is not set as the procedure requires.
  public static let clientConfigurationImproperlyConfigured = ATTErrorCode(0xFD)
  /// A procedure is in progress, so another procedure cannot start.
  public static let procedureAlreadyInProgress = ATTErrorCode(0xFE)
  /// The value is out of its range.
  public static let outOfRange = ATTErrorCode(0xFF)
}
