/// An error in the text of a profile.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ProfileFault: Error, Equatable, Sendable {
  /// No kind or fault has this name.
  case unknownProfile(name: String, allowed: [String])
  /// The profile has no setting of this name.
  case unknownKey(key: String, allowed: [String])
  /// A value is not allowed; `allowed` describes the allowed values.
  case valueNotAllowed(key: String, value: String, allowed: String)
  /// A setting occurs twice.
  case repeatedKey(key: String)
  /// Each value is allowed, but a radio with these values could not carry a packet.
  case radio(RadioModelFault)
}

extension ProfileFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unknownProfile(let name, let allowed):
      "unknown profile '\(name)'; the profiles are " + allowed.joined(separator: ", ")
    case .unknownKey(let key, let allowed):
      "unknown setting '\(key)'; the settings are " + allowed.joined(separator: ", ")
    case .valueNotAllowed(let key, let value, let allowed):
      "'\(value)' is not allowed for \(key); allowed: \(allowed)"
    case .repeatedKey(let key): "\(key) is set twice"
    case .radio(let fault): "these radio settings are invalid: \(fault)"
    }
  }
}
