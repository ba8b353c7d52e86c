import OtaflashGATT

/// A device's refusal, in the words of its protocol.
public struct ProtocolRefusal: Error, Equatable, Sendable {
  /// What it means for whoever runs the update.
  public enum Kind: Sendable {
    /// The image is wrong for this device; nothing was written.
    case unsuitable
    /// The same: it is for another board.
    case wrongHardware
    /// The same: it is larger than there is room for.
    case doesNotFit
    /// The same: it is older than what runs.
    case downgrade
    /// The device has looked at what was sent, and does not take it.
    case rejected
    /// Its flash failed.
    case flashFault
    /// Its application does not want an update now.
    case unwilling
    /// A right is missing: pairing, a signature's key, the device's own key.
    case forbidden
    /// The key that was given is not the device's.
    case wrongKey
    /// It refuses every key until it is restarted.
    case locked
    /// Device and host disagree about the protocol.
    case protocolBroken
    /// The device speaks no version of the protocol that is known here.
    case versionNotSupported
  }

  /// The number as the protocol's specification writes it, such as `image 27`; `nil` where it would
  /// say no more than `meaning`.
  public let code: String?
  /// What the device said: a clause without a full stop.
  public let meaning: String
  /// Why, and what can be done: one or two whole sentences.
  public let advice: String
  /// What follows from it for whoever runs the update.
  public let kind: Kind
  /// What can be done, where an application can offer it.
  public let remedy: Remedy?

  /// A refusal as a protocol's own specification names it.
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
