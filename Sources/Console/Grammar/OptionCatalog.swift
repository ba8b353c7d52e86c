import ArgumentParser
import FoundationEssentials

/// The options of each command, from the help dump of the parser. Environment variables and
/// suggestions therefore always agree with the grammar.
package struct OptionCatalog {
  package struct Command: Decodable {
    package let commandName: String
    package let subcommands: [Command]?
    package let arguments: [Argument]?

    package func subcommand(_ name: String) -> Command? {
      subcommands?.first { $0.commandName == name }
    }
  }

  package struct Argument: Decodable {
    package struct Name: Decodable {
      package let kind: String
      package let name: String

      package var token: String { (kind == "long" ? "--" : "-") + name }
    }

    package let kind: String
    package let isRepeating: Bool?
    package let names: [Name]?

    package var takesValue: Bool { kind == "option" }
    package var longName: String? { names?.first { $0.kind == "long" }?.name }
    package var tokens: [String] { (names ?? []).map(\.token) }
  }

  private struct Tool: Decodable { let command: Command }

  package let root: Command

  /// Reads the parser's dump. Throws if the dump has another format.
  package init(dump: String) throws {
    root = try JSONDecoder().decode(Tool.self, from: Data(dump.utf8)).command
  }

  /// Returns the commands that a command line names, and the first word that is in the place of a
  /// command but is not the name of a command.
  package func walk(_ arguments: [String]) -> Path {
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

  package struct Path {
    package var commands: [Command]
    /// The number of words up to and including the name of the last command.
    package var namesEnd: Int
    package var stranger: String?

    package var last: Command { commands[commands.count - 1] }
    /// Returns whether a word of the command line is an operand of the command.
    package func hasOperand(in words: [String]) -> Bool {
      var index = namesEnd
      while index < words.count {
        let word = words[index]
        if word == "--" { return index + 1 < words.count }
        guard word.hasPrefix("-"), word != "-" else { return true }
        index += consumesNext(word) ? 2 : 1
      }
      return false
    }

    /// The commands separated by spaces, such as `flash` or `image info`; empty for the root.
    package var name: String { commands.dropFirst().map(\.commandName).joined(separator: " ") }

    fileprivate func consumesNext(_ word: String) -> Bool {
      guard !word.contains("=") else { return false }
      return commands.contains { command in
        (command.arguments ?? []).contains { $0.takesValue && $0.tokens.contains(word) }
      }
    }
  }
}
