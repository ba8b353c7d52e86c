import OtaflashATT

/// The security that a link offers or an attribute requires (Core 5.4, Vol 3, Part F, 3.2.5).
public struct AttributeSecurity: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The link is encrypted.
  public static let encryption = AttributeSecurity(rawValue: 0x01)
  /// The link's keys are authenticated, by a passkey or a numeric comparison.
  public static let authentication = AttributeSecurity(rawValue: 0x02)
  /// The application has authorized the client.
  public static let authorization = AttributeSecurity(rawValue: 0x04)

  /// Returns the error for an access over a link that offers `self` to an attribute that requires
  /// `needed`; `nil` if the access is permitted.
  func refusal(of needed: AttributeSecurity) -> ATTErrorCode? {
    let missing = needed.subtracting(self)
    if missing.contains(.authentication) { return .insufficientAuthentication }
    if missing.contains(.encryption) { return .insufficientEncryption }
    if missing.contains(.authorization) { return .insufficientAuthorization }
    return nil
  }
}
