import OtaflashGATT

/// A device's refusal in the words of a protocol that others have specified.
public struct ProtocolRefusal: Error, Equatable, Sendable {
  /// What it means for whoever runs the update.
  public enum Kind: Sendable {
    /// The image is wrong for this device; nothing was written.
    case unsuitable
    /// The device has looked at what was sent, and does not take it.
    case rejected
    /// A right is missing: pairing, a signature's key.
    case forbidden
    /// Device and host disagree about the protocol.
    case protocolBroken
  }

  /// The number as the protocol's specification writes it, such as `image 27`.
  public let code: String
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
    code: String, meaning: String, advice: String, kind: Kind, remedy: Remedy? = nil
  ) {
    self.code = code
    self.meaning = meaning
    self.advice = advice
    self.kind = kind
    self.remedy = remedy
  }
}
