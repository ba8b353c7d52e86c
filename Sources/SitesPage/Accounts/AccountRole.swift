#if Sites
/// The permissions of an account. Each role includes the permissions of the roles before it.
package enum AccountRole: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
  /// Permits reading everything except the list of accounts.
  case viewer
  /// Also permits starting campaigns and giving commands to runs.
  case op = "operator"
  /// Also permits reading the list of accounts, and ending their sessions.
  case admin

  package static func < (left: AccountRole, right: AccountRole) -> Bool { left.rank < right.rank }

  private var rank: Int {
    switch self {
    case .viewer: 0
    case .op: 1
    case .admin: 2
    }
  }
}
#endif
