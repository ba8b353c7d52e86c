import ArgumentParser
import OtaflashConsole

/// A command that performs an action; the other commands only group subcommands.
package protocol Subcommand: ParsableCommand, Sendable {
  var global: GlobalOptions { get }
  /// The command's name in reports: `flash`, `image info`.
  static var words: String { get }
  /// The subject of the command, as given.
  var subject: Subject { get }
  /// The file for the recording of the links; `nil` = no recording.
  var captureFile: OutputFile? { get }
  /// The input files of the command line.
  var inputFiles: [String] { get }

  /// Whether a desktop notification reports the end of the run.
  var notifies: Bool { get }
  /// Whether the command supports simulated devices in place of an adapter.
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

/// A command that only groups other commands.
package protocol GroupCommand: ParsableCommand {}
