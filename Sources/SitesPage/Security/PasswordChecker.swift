#if Sites
/// Verifies passwords one after another: each derivation uses 32 MiB.
actor PasswordChecker {
  /// Compared with passwords of unknown accounts, so that the answer takes equally long.
  private let substitute: PasswordHash

  init(cost: PasswordHash.Cost) {
    substitute = PasswordHash(of: SessionKey().text, cost: cost)
  }

  func matches(_ password: String, of account: Account?) -> Bool {
    guard PasswordHash.lengths.upperBound >= password.utf8.count else { return false }
    guard let hash = account?.password else {
      _ = substitute.matches(password)
      return false
    }
    return hash.matches(password)
  }
}
#endif
