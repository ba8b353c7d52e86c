/// The domain of the errors that a device reports with an Error Response. The code of such an
/// NSError is the ATT error code, which may be an application code.
public let CBATTErrorDomain = "CBATTErrorDomain"

/// The domain of the errors of the system's Bluetooth; the codes are the values of `CBError.Code`.
public let CBErrorDomain = "CBErrorDomain"

/// An error of the system's Bluetooth (CBError).
public struct CBError {
  public enum Code: Int, Sendable {
    case unknown = 0
    case invalidParameters
    case invalidHandle
    case notConnected
    case outOfSpace
    case operationCancelled
    case connectionTimeout
    case peripheralDisconnected
    case uuidNotAllowed
    case alreadyAdvertising
    case connectionFailed
    case connectionLimitReached
    case unknownDevice
    case operationNotSupported
    case peerRemovedPairingInformation
    case encryptionTimedOut
    case tooManyLEPairedDevices
  }
}
