#if Sites
/// The login form.
enum LoginView {
  static func page(code: String, next: String, mistake: String? = nil, account: String = "") -> HTML
  {
    let problem: HTML =
      mistake.map { "<p class=\"notice\" role=\"alert\" id=\"mistake\">\($0)</p>\n" } ?? ""
    let described: HTML = mistake == nil ? "" : " aria-describedby=\"mistake\""
    return PageFrame(title: "Log in").page(
      """
      <h1>Log in</h1>
      \(problem)<form method="post" action="/login" class="stack">
      <input type="hidden" name="\(FormCheck.fieldName)" value="\(code)">
      <input type="hidden" name="next" value="\(next)">
      <label for="account">Account</label>
      <input id="account" name="account" value="\(account)" autocomplete="username" \
      autocapitalize="none" spellcheck="false" maxlength="64" required\(described)>
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="current-password" \
      maxlength="256" required>
      <button>Log in</button>
      </form>

      """)
  }
}

/// The page for administrators with the accounts and their sessions.
enum AccountsView {
  static func page(
    _ accounts: [(account: Account, sessions: Int)], fault: AccountsFault?, for user: PageUser
  ) -> HTML {
    let rows = accounts.map { account, sessions -> HTML in
      let password = account.password == nil ? "none" : "set"
      let end: HTML =
        sessions == 0
        ? ""
        : """
        <form method="post" action="/accounts/\(path: account.name)/end-sessions">\
        <input type="hidden" name="\(FormCheck.fieldName)" \
        value="\(user.session?.formToken ?? "")">\
        <button>End the sessions<span class="hidden"> of \(account.name)</span></button></form>
        """
      return """
        <tr><th scope="row">\(account.name)</th><td>\(account.role.rawValue)</td>\
        <td>\(password)</td><td class="r">\(account.tokens.count)</td>\
        <td class="r">\(sessions)</td><td>\(end)</td></tr>

        """
    }
    let problem: HTML =
      fault.map {
        """
        <p class="notice" role="alert">The changed accounts file is not used: \($0.description)</p>

        """
      } ?? ""
    return PageFrame(title: "Accounts", section: .accounts, user: user).page(
      """
      <h1>Accounts</h1>
      \(problem)<p>Accounts are added, changed and removed with the command line of the \
      coordinator. Changes take effect within a second.</p>
      \(Elements.table(
        "Accounts",
        head: Elements.heads("Account", "Role", "Password", "Tokens", "Sessions", "Command"),
        rows: rows))
      """)
  }
}

/// The page for a refused or failed request.
enum ErrorView {
  static func page(_ error: PageError, for user: PageUser?) -> HTML {
    let items = error.details.map { detail -> HTML in "<li>\(detail)</li>\n" }
    let details: HTML =
      error.details.isEmpty
      ? ""
      : "<ul class=\"plain\">\n\(items)</ul>\n"
    return PageFrame(title: error.status.reasonPhrase, user: user).page(
      """
      <h1>\(error.status.reasonPhrase)</h1>
      <p>\(PageError.sentence(error.words))</p>
      \(details)<p><a href="/">Overview</a></p>

      """)
  }
}

extension PageError {
  /// Returns a clause as a sentence.
  fileprivate static func sentence(_ words: String) -> String {
    words.prefix(1).uppercased() + words.dropFirst() + "."
  }
}
#endif
