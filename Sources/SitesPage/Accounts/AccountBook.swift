#if Sites
import Synchronization

/// The accounts of a running page. A changed file is read again within a second; afterwards, a
/// removed account or token is refused.
package final class AccountBook: Sendable {
  /// The interval at which the file is checked for changes.
  private static let interval = Duration.seconds(1)

  fileprivate struct State {
    var accounts: [String: Account] = [:]
    var tokens: [String: (account: String, token: AccessToken.Stored)] = [:]
    var identity: AccountsFile.Identity?
    var examined: Duration?
    /// The reason why the current file is not used; the previous accounts remain valid.
    var fault: AccountsFault?
  }

  package let file: AccountsFile
  private let uptime: @Sendable () -> Duration
  private let state = Mutex(State())

  /// Reads the accounts.
  ///
  /// - Throws: a fault if the file cannot be used.
  package init(
    _ file: AccountsFile, environment: SitesEnvironment = SitesEnvironment()
  ) throws(AccountsFault) {
    self.file = file
    uptime = environment.uptime
    let (accounts, identity) = try file.readWithIdentity()
    state.withLock { $0 = State(accounts, identity) }
  }

  package var all: [Account] {
    current { $0.accounts.values.sorted { $0.name < $1.name } }
  }

  /// The reason why a changed file is not used; `nil` if the file is used.
  package var fault: AccountsFault? { current { $0.fault } }

  package subscript(name: String) -> Account? { current { $0.accounts[name] } }

  /// Returns the account of a token; `nil` if the token is not valid.
  package func account(with token: AccessToken) -> Account? {
    current { state in
      guard let known = state.tokens[token.id], known.token.matches(token) else { return nil }
      return state.accounts[known.account]
    }
  }

  private func current<Value: Sendable>(_ body: (State) -> Value) -> Value {
    let now = uptime()
    return state.withLock { state in
      if state.examined.map({ now - $0 >= Self.interval }) ?? true {
        state.examined = now
        let identity = file.identity
        if identity != state.identity { reload(&state, identity) }
      }
      return body(state)
    }
  }

  private func reload(_ state: inout State, _ identity: AccountsFile.Identity?) {
    do throws(AccountsFault) {
      let (accounts, identity) = try file.readWithIdentity()
      let examined = state.examined
      state = State(accounts, identity)
      state.examined = examined
    } catch {
      state.identity = identity
      state.fault = error
    }
  }
}

extension AccountBook.State {
  fileprivate init(_ accounts: [Account], _ identity: AccountsFile.Identity) {
    self.accounts = Dictionary(accounts.map { ($0.name, $0) }) { first, _ in first }
    for account in accounts {
      for token in account.tokens { tokens[token.id] = (account.name, token) }
    }
    self.identity = identity
  }
}
#endif
