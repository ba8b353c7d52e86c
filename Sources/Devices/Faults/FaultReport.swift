import OtaflashConsole

/// The printed form of a fault: text (the event, excerpts of a file, the reason and a command), or
/// one JSON object.
package struct FaultReport: Equatable, Sendable {
  package let code: FaultCode
  /// The event, without a full stop or a line break.
  package let what: String
  /// The reason, or the consequence for the device; one or more sentences.
  package let why: String
  /// A command that works as printed.
  package let help: String
  package let exit: ExitStatus
  /// Whether the same command can succeed if it is run again unchanged.
  package let retryable: Bool
  /// The locations of the fault and of further faults in a file.
  package let passages: [FilePassage]
  /// The number of faults of the file that are not in `passages`.
  package let omitted: Int
  /// Additional clauses about the event.
  package let details: [String]
  /// The state of the image on the device, if a program must know it.
  package var imageState: ImageState?

  /// The state of an image whose update ended early.
  package enum ImageState: String {
    /// The host requested a restart of the device into the image. The outcome is unknown.
    case restartRequested = "restart-requested"
  }

  /// - Parameters:
  /// - why: the reason; `nil` = the causes in the row of the code.
  /// - exit: one of the exit statuses in the row of the code; `nil` = the first exit status.
  /// - retryable: `nil` = the value in the row of the code.
  package init(
    _ code: FaultCode, _ what: String, why: String? = nil, help: String, exit: ExitStatus? = nil,
    retryable: Bool? = nil, passages: [FilePassage] = [], omitted: Int = 0, details: [String] = []
  ) {
    let row = code.row
    self.code = code
    self.what = what
    self.why = why ?? row.causes
    self.help = help
    self.exit = exit ?? row.exits[0]
    self.retryable = retryable ?? row.retryable
    self.passages = passages
    self.omitted = omitted
    self.details = details
  }
}

extension FaultReport {
  /// The details, and the passages with their lines, as text.
  package var excerpts: [String] {
    var lines = details.map { "  - " + $0 } + (passages.first?.excerpt ?? [])
    for passage in passages.dropFirst() { lines += ["  " + passage.what] + passage.excerpt }
    if omitted > 0 { lines.append("  and \(Text.counted(omitted, "more mistake"))") }
    return lines
  }
}

/// The data for the remedies of a fault: the arguments of this command line.
package struct FaultContext: Sendable {
  /// The program of printed commands: `otaflash` as it was called, so that the commands work
  /// unchanged.
  package let program: String
  /// The name or path with which this program was called, for commands that repeat this command
  /// line.
  private let caller: String
  /// All arguments after the program.
  package let arguments: [String]
  package let subject: Subject
  /// Returns the command that the arguments call; `nil` if they are invalid.
  package let commandName: @Sendable ([String]) -> String?
  private let reporting: @Sendable (CommandFault, FaultContext) -> FaultReport

  /// - Parameters:
  ///   - program: the program of printed commands.
  ///   - caller: this program as it was called; `nil` = `program`.
  ///   - arguments: all words after the program.
  ///   - commandName: returns the command that the arguments call; `nil` if they are invalid.
  ///   - reporting: the table of all faults.
  package init(
    program: String, caller: String? = nil, arguments: [String], subject: Subject,
    commandName: @escaping @Sendable ([String]) -> String?,
    reporting: @escaping @Sendable (CommandFault, FaultContext) -> FaultReport
  ) {
    self.program = program
    self.caller = caller ?? program
    self.arguments = arguments
    self.subject = subject
    self.commandName = commandName
    self.reporting = reporting
  }

  package func report(_ fault: CommandFault) -> FaultReport { reporting(fault, self) }

  /// This run's command without `--restart`, so that it resumes the transfer.
  package var again: String { own(arguments.filter { $0 != "--restart" }) }

  /// This run's command without the options that start a transfer or a run again.
  package var goingOn: String { own(arguments.filter { $0 != "--restart" && $0 != "--again" }) }

  /// Returns this run's command with another value of an option.
  package func again(choosing option: String, _ value: String) -> String {
    var rest: [String] = []
    var isValue = false
    for word in arguments where word != "--restart" {
      if isValue {
        isValue = false
      } else if word == option {
        isValue = true
      } else if !word.hasPrefix(option + "=") {
        rest.append(word)
      }
    }
    return working(rest, adding: [option, value])
  }

  /// Returns this run's command with additional arguments.
  package func again(with words: String...) -> String { working(arguments, adding: words) }

  /// Returns `words` followed by `more`. If the command does not accept `more`, returns `flash`
  /// with these arguments. If there is no image or no device, or if `flash` does not accept the
  /// arguments, returns the command's own help.
  package func working(_ words: [String], adding more: [String]) -> String {
    guard let name = commandName(arguments), commandName(words + more) == nil else {
      return own(words + more)
    }
    if let image = subject.image, let device = subject.device {
      let flash = ["flash", image, "-d", device] + more
      if commandName(flash) != nil { return own(flash) }
    }
    return help(of: name)
  }

  /// The command that prints the help of this run's command.
  package var ownHelp: String { help(of: commandName(arguments) ?? "") }

  package func help(of name: String) -> String {
    own(name.split(separator: " ").map(String.init) + ["--help"])
  }

  /// This run's command with a log of its traffic, for a report of an error in otaflash.
  package var againVerbose: String { again(with: "-vvv") }

  package var showConfiguration: String { command(["config", "show"]) }
  package var inspectDevice: String { inspect(with: ["info"]) }

  /// The command that shows the state of the part of the device that caused the refusal.
  package var inspectSubject: String { inspect(with: subject.inspection) }

  private func inspect(with words: [String]) -> String {
    subject.device.map { command(words + ["-d", $0]) } ?? command(["devices"])
  }

  package var inspectImage: String { inspect(image: subject.image ?? "-") }

  /// Returns the command that shows an image. For standard input, which cannot be read a second
  /// time, returns the command for the help.
  package func inspect(image: String) -> String {
    guard image != "-" else { return command(["image", "info", "--help"]) }
    return command(["image", "info", image.hasPrefix("-") ? "./" + image : image])
  }

  /// The command that resets this run's simulated device to its factory state.
  package var resetSimulation: String {
    guard let profile = subject.device?.removingPrefix("sim:") else {
      return again(with: "--reset")
    }
    return command(["simulate", "--reset"] + (profile.isEmpty ? [] : ["--profile", profile]))
  }

  package var doctor: String { command(["doctor"]) }
  package var scan: String { command(["scan"]) }
  package var pair: String { aboutDevice("pair") }

  /// The command that removes the keys of the device. For a device without an address, which has no
  /// keys, returns `devices`.
  package var unpair: String {
    guard let device = subject.device, !device.hasPrefix("unix:"), !device.hasPrefix("sim:") else {
      return command(["devices"])
    }
    return aboutDevice("unpair")
  }

  /// Returns another command for this run's device with the same adapter.
  package func aboutDevice(_ words: String...) -> String {
    guard let device = subject.device else { return command(words + ["--help"]) }
    return command(adapterWords + words + ["-d", device])
  }

  /// The option `--adapter` with its value, such as `--adapter hci1`, if this run has the option.
  private var adapterWords: [String] {
    for (word, next) in zip(arguments, arguments.dropFirst()) where word == "--adapter" {
      return [word, next]
    }
    return arguments.filter { $0.hasPrefix("--adapter=") }
  }

  /// Returns the command that lists a file or a directory.
  package func list(_ path: String) -> String { "ls -l -- " + ShellWords.quote(path) }

  package func command(_ words: [String]) -> String { ShellWords.join([program] + words) }

  /// Returns a command of this program, as it was called.
  private func own(_ words: [String]) -> String { ShellWords.join([caller] + words) }
}
