/// A command that an operator gave to a run.
public struct OperatorAction: Hashable, Sendable, Codable {
  /// The kind of a command.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// Approves the next wave.
    case approve
    /// Pauses the run.
    case pause
    /// Continues after a pause.
    case resume
    /// Cancels the run.
    case cancel
    /// Retries devices.
    case retry
  }

  /// The command.
  public let kind: Kind
  /// The operator, such as `anna@line-3`. The name is not authenticated.
  public let by: String
  /// The reason that the operator gave; `nil` = no reason was given.
  public let reason: String?

  /// Creates the record of a command.
  public init(_ kind: Kind, by: String, reason: String? = nil) {
    self.kind = kind
    self.by = by
    self.reason = reason
  }

  /// The command, the operator and the reason, such as `approve by anna@line-3: the canary looks
  /// good`.
  public var words: String { "\(kind.rawValue) by \(by)" + (reason.map { ": \($0)" } ?? "") }
}
