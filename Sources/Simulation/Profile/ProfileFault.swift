/// What is wrong with the text of a profile.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ProfileFault: Error, Equatable, Sendable {
  /// No kind or fault has this name.
  case unknownProfile(name: String, allowed: [String])
  /// The profile has no setting of this name.
  case unknownKey(key: String, allowed: [String])
  /// `allowed` says in words what the value must look like.
  case valueNotAllowed(key: String, value: String, allowed: String)
  /// One setting has two values.
  case repeatedKey(key: String)
  /// Each value is fine, but the radio that they describe could not carry a packet.
  case radio(RadioModelFault)
}

extension ProfileFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unknownProfile(let name, let allowed):
      "there is no profile '\(name)'; there are " + allowed.joined(separator: ", ")
    case .unknownKey(let key, let allowed):
      "there is no setting '\(key)'; there are " + allowed.joined(separator: ", ")
    case .valueNotAllowed(let key, let value, let allowed):
      "'\(value)' is not allowed for \(key); it is \(allowed)"
    case .repeatedKey(let key): "\(key) is set twice"
    case .radio(let fault): "no such radio can be built: \(fault)"
    }
  }
}
