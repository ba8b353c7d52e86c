import ArgumentParser
import OtaflashConsole

/// A command that does something; the others only group.
protocol Subcommand: ParsableCommand, Sendable {
  var global: GlobalOptions { get }
  /// The command's words, as a program sees them: `flash`, `image info`.
  static var words: String { get }
  /// What the command is about, as the user wrote it.
  var subject: Subject { get }
  /// Where the command's links are to be recorded.
  var captureFile: OutputFile? { get }
  /// The files that the command line has it read.
  var inputFiles: [String] { get }

  /// Whether a person is told on the desktop when it is over.
  var notifies: Bool { get }
  /// Whether the command knows what to do with simulated devices in the place of an adapter.
  static var takesSimulatedAir: Bool { get }

  func perform(in session: Session) async throws(CommandFault) -> Ending
}

extension Subcommand {
  static var words: String { configuration.commandName ?? "" }
  static var takesSimulatedAir: Bool { false }
  var subject: Subject { Subject() }
  var captureFile: OutputFile? { nil }
  var inputFiles: [String] { [] }
  var notifies: Bool { false }
}

/// A command that only groups others.
protocol GroupCommand: ParsableCommand {}
