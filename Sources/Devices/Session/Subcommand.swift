import ArgumentParser
import OtaflashConsole

/// A command that does something; the others only group.
package protocol Subcommand: ParsableCommand, Sendable {
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
  package static var words: String { configuration.commandName ?? "" }
  package static var takesSimulatedAir: Bool { false }
  package var subject: Subject { Subject() }
  package var captureFile: OutputFile? { nil }
  package var inputFiles: [String] { [] }
  package var notifies: Bool { false }
}

/// A command that only groups others.
package protocol GroupCommand: ParsableCommand {}
