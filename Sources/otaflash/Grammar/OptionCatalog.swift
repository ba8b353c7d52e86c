import ArgumentParser
import FoundationEssentials

/// What the parser knows of each command's options, from its own description of itself, so that
/// environment variables and suggestions can never disagree with the grammar.
struct OptionCatalog {
  struct Command: Decodable {
    let commandName: String
    let subcommands: [Command]?
    let arguments: [Argument]?

    func subcommand(_ name: String) -> Command? {
      subcommands?.first { $0.commandName == name }
    }
  }

  struct Argument: Decodable {
    struct Name: Decodable {
      let kind: String
      let name: String

      var token: String { (kind == "long" ? "--" : "-") + name }
    }

    let kind: String
    let isRepeating: Bool?
    let names: [Name]?

    var takesValue: Bool { kind == "option" }
    var longName: String? { names?.first { $0.kind == "long" }?.name }
    var tokens: [String] { (names ?? []).map(\.token) }
  }

  private struct Tool: Decodable { let command: Command }

  let root: Command

  /// Reads the parser's dump. Throws when the dump is not what this version of it writes.
  init(dump: String) throws {
    root = try JSONDecoder().decode(Tool.self, from: Data(dump.utf8)).command
  }

  /// Where the words of a command line lead: the commands named, and the first word that names
  /// none although one was due.
  func walk(_ arguments: [String]) -> Path {
    var path = Path(commands: [root], namesEnd: arguments.count)
    var index = 0
    while index < arguments.count {
      let word = arguments[index]
      if word == "--" { break }
      if word.hasPrefix("-"), word != "-" {
        index += path.consumesNext(word) ? 2 : 1
        continue
      }
      guard !(path.last.subcommands ?? []).isEmpty else { break }
      guard let next = path.last.subcommand(word) else {
        path.stranger = word
        break
      }
      path.commands.append(next)
      index += 1
      path.namesEnd = index
    }
    return path
  }

  struct Path {
    var commands: [Command]
    /// How many words it takes until the last command's name has been read.
    var namesEnd: Int
    var stranger: String?

    var last: Command { commands[commands.count - 1] }
    /// `flash`, `image info`; empty for the root alone.
    var name: String { commands.dropFirst().map(\.commandName).joined(separator: " ") }

    fileprivate func consumesNext(_ word: String) -> Bool {
      guard !word.contains("=") else { return false }
      return commands.contains { command in
        (command.arguments ?? []).contains { $0.takesValue && $0.tokens.contains(word) }
      }
    }
  }
}
