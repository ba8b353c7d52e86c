/// A command that an operator gave to a run.
package struct OperatorAction: Hashable, Sendable, Codable {
  package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    case approve, pause, resume, cancel, retry
  }

  package let kind: Kind
  /// Who gave it, such as `anna@line-3`. The name is the operator's own statement.
  package let by: String
  package let reason: String?

  package init(_ kind: Kind, by: String, reason: String? = nil) {
    self.kind = kind
    self.by = by
    self.reason = reason
  }

  /// `approve by anna@line-3: the canary looks good`
  package var words: String { "\(kind.rawValue) by \(by)" + (reason.map { ": \($0)" } ?? "") }
}
