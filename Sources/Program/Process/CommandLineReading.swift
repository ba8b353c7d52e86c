import ArgumentParser
import OtaflashConsole
import OtaflashDevices

/// A parsed command line.
package enum CommandLineReading {
  case command(any Subcommand, name: String)
  /// `--help`, `--version`, or the parser's output for tools.
  case text(String)
  /// A command that only groups other commands.
  case groupAlone(Group)
  case malformed(message: String, name: String)

  /// A command that requires a subcommand.
  package struct Group {
    /// The name of the command; empty for the program itself.
    package let name: String
    package let help: String
    package let complaint: String

    fileprivate init(_ name: String, help: String, configuration: CommandConfiguration) {
      self.name = name
      self.help = help
      let commands = configuration.subcommands.map { $0.configuration.commandName ?? "" }
      complaint = "a command is missing; the commands are " + commands.joined(separator: ", ")
    }
  }

  /// - Parameter root: the command that groups all others.
  package init(
    _ arguments: [String], environment: [String: String], root: any ParsableCommand.Type
  ) {
    var added: [String] = []
    do {
      let expansion = try Self.expansion(arguments, environment: environment, root)
      added = expansion.added
      let parsed = try root.parseAsRoot(expansion.words)
      if let command = parsed as? any Subcommand {
        self = .command(command, name: type(of: command).words)
      } else if let group = parsed as? any GroupCommand {
        let configuration = type(of: group).configuration
        self = .groupAlone(
          Group(
            type(of: group) == root ? "" : configuration.commandName ?? "",
            help: root.helpMessage(for: type(of: group)), configuration: configuration))
      } else {
        var help = parsed
        try help.run()
        self = .text("")
      }
    } catch {
      self = Self.meaning(of: error, arguments: arguments, fromEnvironment: added, root)
    }
  }

  /// Inserts the words of the environment after the command's name.
  private static func expansion(
    _ arguments: [String], environment: [String: String], _ root: any ParsableCommand.Type
  ) throws -> (words: [String], added: [String]) {
    // Completion requests of a shell depend on the positions of words.
    let isShell = arguments.first?.hasPrefix("---") ?? false
    guard !isShell, environment.keys.contains(where: { $0.hasPrefix(EnvironmentOptions.prefix) })
    else {
      return (arguments, [])
    }
    let path = try OptionCatalog(dump: root._dumpHelp()).walk(arguments)
    guard path.commands.count > 1 else { return (arguments, []) }
    let added = EnvironmentOptions.words(for: path, arguments: arguments, environment: environment)
    return (
      Array(arguments[..<path.namesEnd]) + added + Array(arguments[path.namesEnd...]), added
    )
  }

  private static func meaning(
    of error: any Error, arguments: [String], fromEnvironment added: [String],
    _ root: any ParsableCommand.Type
  ) -> CommandLineReading {
    let text = root.fullMessage(for: error)
    if root.exitCode(for: error) == .success {
      let complaint = complaintOfHelp(arguments, root)
      return complaint.map { .malformed(message: $0, name: "") } ?? .text(text)
    }
    let message = firstSentence(of: root.message(for: error))
    do {
      let path = try OptionCatalog(dump: root._dumpHelp()).walk(arguments)
      guard let stranger = path.stranger else {
        let origin = EnvironmentOptions.origin(of: message, among: added)
        return .malformed(
          message: message + (origin.map { " (from \($0))" } ?? ""), name: path.name)
      }
      let known = (path.last.subcommands ?? []).map(\.commandName)
      let hint = Suggestion.nearest(to: stranger, among: known).map { "; did you mean '\($0)'?" }
      return .malformed(
        message: "there is no command '\(stranger)'" + (hint ?? ""), name: path.name)
    } catch {
      return .malformed(message: message, name: "")
    }
  }

  /// Returns the error of a command line that the parser mistakes for a request for help: a file
  /// named `-h.bin`, or help for an unknown command.
  private static func complaintOfHelp(
    _ arguments: [String], _ root: any ParsableCommand.Type
  ) -> String? {
    let options = arguments.prefix { $0 != "--" }
    if options.first == "help" {
      do {
        let path = try OptionCatalog(dump: root._dumpHelp()).walk(Array(options.dropFirst()))
        return path.stranger.map { "there is no command '\($0)'" }
      } catch {
        return nil
      }
    }
    // One dash with flags, or two dashes.
    let asks = options.contains { word in
      word.hasPrefix("--") || word.hasPrefix("-") && word.allSatisfy("-hqvy".contains)
    }
    guard !asks, let cluster = options.first(where: { $0.hasPrefix("-") && $0.contains("h") })
    else { return nil }
    return "'\(cluster)' is not an option; for a file with this name, use ./\(cluster)"
  }

  private static func firstSentence(of message: String) -> String {
    String(message.prefix { $0 != "\n" })
  }
}

extension FaultContext {
  /// Creates a context in which remedies are commands of this program.
  package init(
    program: String, caller: String? = nil, arguments: [String], subject: Subject = Subject(),
    root: any ParsableCommand.Type
  ) {
    self.init(
      program: program, caller: caller, arguments: arguments, subject: subject,
      commandName: { words in
        guard case .command(_, let name) = CommandLineReading(words, environment: [:], root: root)
        else {
          return nil
        }
        return name
      }, reporting: { FaultReport($0, in: $1) })
  }
}
