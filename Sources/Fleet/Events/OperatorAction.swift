/// A command that an operator gave to a run.
public struct OperatorAction: Hashable, Sendable, Codable {
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    case approve, pause, resume, cancel, retry
  }

  public let kind: Kind
  /// The operator, such as `anna@line-3`. The name is not authenticated.
  public let by: String
  public let reason: String?

  public init(_ kind: Kind, by: String, reason: String? = nil) {
    self.kind = kind
    self.by = by
    self.reason = reason
  }

  /// `approve by anna@line-3: the canary looks good`
  public var words: String { "\(kind.rawValue) by \(by)" + (reason.map { ": \($0)" } ?? "") }
}
