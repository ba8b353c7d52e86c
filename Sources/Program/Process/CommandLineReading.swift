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
  /// The project file of the command cannot be used.
  case unusableProject(ProjectFile.Fault, name: String)

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

  /// - Parameters:
  ///   - folder: the folder from which the project file is searched; `nil` = no project file is
  ///     used.
  ///   - root: the command that groups all others.
  package init(
    _ arguments: [String], environment: [String: String], projectFrom folder: String? = nil,
    root: any ParsableCommand.Type
  ) {
    var added: [String] = []
    var project: ProjectOptions?
    do {
      let expansion = try Self.expansion(
        arguments, environment: environment, projectFrom: folder, root)
      (added, project) = (expansion.added, expansion.project)
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
    } catch let fault as ProjectFile.Fault {
      self = .unusableProject(fault, name: Self.name(of: arguments, root))
    } catch {
      let meaning = Self.meaning(of: error, arguments: arguments, fromEnvironment: added, root)
      guard case .malformed(let message, let name) = meaning, let project,
        let origin = project.origin(of: message)
      else {
        self = meaning
        return
      }
      self = .malformed(message: message + " (from \(origin))", name: name)
    }
  }

  private static func name(of arguments: [String], _ root: any ParsableCommand.Type) -> String {
    do { return try OptionCatalog(dump: root._dumpHelp()).walk(arguments).name } catch { return "" }
  }

  private struct Expansion {
    let words: [String]
    /// The words that the environment added.
    var added: [String] = []
    var project: ProjectOptions?
  }

  /// Inserts the words of the environment and of the project file after the command's name.
  private static func expansion(
    _ arguments: [String], environment: [String: String], projectFrom folder: String?,
    _ root: any ParsableCommand.Type
  ) throws -> Expansion {
    // Completion requests of a shell depend on the positions of words.
    let isShell = arguments.first?.hasPrefix("---") ?? false
    let hasVariables = environment.keys.contains { $0.hasPrefix(EnvironmentOptions.prefix) }
    guard !isShell, hasVariables || folder != nil else { return Expansion(words: arguments) }
    let path = try OptionCatalog(dump: root._dumpHelp()).walk(arguments)
    guard path.commands.count > 1 else { return Expansion(words: arguments) }
    let added = EnvironmentOptions.words(for: path, arguments: arguments, environment: environment)
    let (head, tail) = (Array(arguments[..<path.namesEnd]), Array(arguments[path.namesEnd...]))
    let words = head + added + tail
    let asksForHelp = tail.contains { ["-h", "--help", "--version"].contains($0) }
    guard let folder, path.usesProject, !asksForHelp else {
      return Expansion(words: words, added: added)
    }
    let profile = ProjectOptions.value(of: ProjectOptions.profileOption, in: words)
    guard let file = try ProjectFile.find(from: folder) else {
      if let profile { throw ProjectFile.Fault.noFile(profile: profile) }
      return Expansion(words: words, added: added)
    }
    let project = ProjectOptions(
      try file.settings(profile: profile), of: file.path, for: path, words: words)
    let image = project.image.map { [$0] } ?? []
    return Expansion(
      words: head + added + project.options + image + tail, added: added, project: project)
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
  /// named `-h.bin`, or help for an unknown command. Returns `nil` for a real request for help.
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
