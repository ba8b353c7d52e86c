#if Sites
import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashSiteHost
import OtaflashSitesPage

/// Changes the accounts of the page and the API.
struct AccountsCommand: GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "accounts",
    abstract: "Change the accounts of the page and the API.",
    discussion: """
      Roles: viewer reads, operator also starts and controls runs, admin has all rights. A running \
      coordinator applies changes within a second.
      """,
    subcommands: [
      AccountsAdd.self, AccountsToken.self, AccountsRemove.self, AccountsList.self,
    ])

  @OptionGroup var global: GlobalOptions
}

extension Subcommand {
  fileprivate func accounts(_ session: Session) throws(CommandFault) -> AccountsFile {
    AccountsFile(path: SitePaths(in: try StateStore.open(session).directory.path).accounts)
  }

  fileprivate func checked<Value>(
    _ body: () throws(AccountsFault) -> Value
  ) throws(CommandFault) -> Value {
    do throws(AccountsFault) { return try body() } catch {
      throw .sites(.page(words: "\(error)"))
    }
  }
}

extension AccountRole: ExpressibleByArgument {}

struct AccountsAdd: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add an account.",
    discussion: """
      The password is the first line of standard input or of a file. An account without a password \
      can only use tokens.
      """)
  static let words = "accounts add"
  private static let passwordMaximum = 4096

  @Argument(help: "The name of the account.") var name: String
  @Option(
    name: .long, help: ArgumentHelp("viewer, operator or admin.", valueName: "role"))
  var role: AccountRole
  @Option(
    name: .long,
    help: ArgumentHelp(
      "A file with the password; - is standard input (default: no password).", valueName: "path"))
  var passwordFile: String?
  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let password = try passwordFile.map { path throws(CommandFault) in try Self.password(path) }
    let file = try accounts(session)
    try checked { () throws(AccountsFault) in
      try file.add(name, role: role, password: password)
    }
    session.console.result("account \(name) (\(role.rawValue)) added")
    return .done("added")
  }

  /// Returns the first line of a file or of standard input. Standard input may belong to another
  /// user, so it cannot be opened again by its path.
  private static func password(_ path: String) throws(CommandFault) -> String {
    if path == "-" { return readLine() ?? "" }
    do throws(FileFault) {
      let bytes = try InputFile(path: path, limit: passwordMaximum).read()
      return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    } catch {
      throw .file(error)
    }
  }
}

struct AccountsToken: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Add a token to an account, and print it.",
    discussion: "The token cannot be printed again; only its hash is stored.")
  static let words = "accounts token"

  @Argument(help: "The name of the account.") var name: String
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The purpose of the token, shown in the list (default: cli).", valueName: "text"))
  var label = "cli"
  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let file = try accounts(session)
    let token = try checked { () throws(AccountsFault) in try file.addToken(label, to: name) }
    session.console.result(token.text)
    session.console.event("token", ["id": .string(token.id), "token": .string(token.text)])
    return .done("added")
  }
}

struct AccountsRemove: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove an account with its tokens and sessions.")
  static let words = "accounts remove"

  @Argument(help: "The name of the account.") var name: String
  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let file = try accounts(session)
    try checked { () throws(AccountsFault) in try file.remove(name) }
    session.console.result("account \(name) removed")
    return .done("removed")
  }
}

struct AccountsList: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the accounts with their tokens.")
  static let words = "accounts list"

  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let file = try accounts(session)
    for account in try checked({ () throws(AccountsFault) in try file.read() }) {
      let tokens = account.tokens.map { "\($0.label) (\($0.id))" }.joined(separator: ", ")
      session.console.result(
        "\(account.name)  \(account.role.rawValue)  "
          + (account.password == nil ? "no password" : "password")
          + (tokens.isEmpty ? "" : "  tokens: \(tokens)"))
      session.console.event(
        "account",
        [
          "name": .string(account.name), "role": .string(account.role.rawValue),
          "has_password": .bool(account.password != nil),
          "tokens": .array(account.tokens.map { .string($0.id) }),
        ])
    }
    return .done("listed")
  }
}
#endif
