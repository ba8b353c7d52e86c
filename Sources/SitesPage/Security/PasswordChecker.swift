#if Sites
import Synchronization

/// Verifies passwords one at a time, because each derivation uses 32 MiB.
final class PasswordChecker: Sendable {
  /// The maximum number of waiting derivations. Further passwords are refused, so that many logins
  /// cannot occupy the page for minutes.
  static let waitingMaximum = 16

  /// Executes one derivation at a time.
  private actor Derivation {
    func matches(_ password: String, _ hash: PasswordHash) -> Bool { hash.matches(password) }
  }

  private let derivation = Derivation()
  private let waiting = Mutex(0)
  /// The hash that is compared if the account is unknown, so that the response takes the same time.
  private let substitute: PasswordHash

  init(cost: PasswordHash.Cost) {
    substitute = PasswordHash(of: SessionKey().text, cost: cost)
  }

  /// Returns whether the password is the password of the account; `nil` if too many passwords are
  /// waiting.
  func matches(_ password: String, of account: Account?) async -> Bool? {
    guard password.utf8.count <= PasswordHash.lengths.upperBound else { return false }
    guard admit() else { return nil }
    defer { release() }
    guard let hash = account?.password else {
      _ = await derivation.matches(password, substitute)
      return false
    }
    return await derivation.matches(password, hash)
  }

  func admit() -> Bool {
    waiting.withLock { count in
      guard count < Self.waitingMaximum else { return false }
      count += 1
      return true
    }
  }

  func release() { waiting.withLock { $0 -= 1 } }
}
#endif
