import OtaflashGATT

/// A device's refusal, in the terms of its protocol.
public struct ProtocolRefusal: Error, Equatable, Sendable {
  /// The category of a refusal.
  public enum Kind: Sendable {
    /// The image or the request is unsuitable for this device; nothing was written.
    case unsuitable
    /// The image is for another board; nothing was written.
    case wrongHardware
    /// The image is larger than the available space; nothing was written.
    case doesNotFit
    /// The image is older than the running image; nothing was written.
    case downgrade
    /// The device examined the sent data, and rejected it.
    case rejected
    /// The flash of the device failed.
    case flashFault
    /// The application does not permit an update now.
    case unwilling
    /// Authorization is missing: pairing, a signature with the correct key, or the device's own
    /// key.
    case forbidden
    /// The given key is not the device's key.
    case wrongKey
    /// The device refuses every key until it is restarted.
    case locked
    /// Device and host disagree about the protocol.
    case protocolBroken
    /// The device supports no known version of the protocol.
    case versionNotSupported
  }

  /// The code in the notation of the protocol's specification, such as `image 27`; `nil` if it adds
  /// nothing to `meaning`.
  public let code: String?
  /// The refusal, as a clause without a full stop.
  public let meaning: String
  /// The reason and the correction, in complete sentences.
  public let advice: String
  /// The category.
  public let kind: Kind
  /// The correction, if an application can offer one.
  public let remedy: Remedy?

  /// Whether the device accepts the rest of the update after another run of the same update, which
  /// then follows once.
  var needsAnotherPass = false

  /// Creates a refusal in the terms of a protocol's specification.
  public init(
    code: String? = nil, meaning: String, advice: String, kind: Kind, remedy: Remedy? = nil
  ) {
    self.code = code
    self.meaning = meaning
    self.advice = advice
    self.kind = kind
    self.remedy = remedy
  }
}
