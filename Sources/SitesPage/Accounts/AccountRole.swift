#if Sites
/// The rights of an account. Each role includes the rights of the roles before it.
package enum AccountRole: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
  /// Reads everything.
  case viewer
  /// Also starts campaigns, and gives commands to runs.
  case op = "operator"
  /// Also manages accounts and sessions.
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
