import ArgumentParser

package enum ColorChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, always, never
}

package enum ProgressChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, bar, plain, none
}

/// The options that determine the output of a run.
package struct OutputOptions: ParsableArguments, Sendable {
  @Flag(name: .shortAndLong, help: "Print more; -vv: each step of a connection, -vvv: each PDU.")
  package var verbose: Int

  @Flag(name: .shortAndLong, help: "Print only the result and errors.")
  package var quiet = false

  @Flag(name: .long, help: "Write JSON Lines (schema version 1) to standard output.")
  package var json = false

  @Option(name: .long, help: "The use of color: auto, always or never.")
  package var color = ColorChoice.auto

  @Option(name: .long, help: "The display of progress: auto, bar, plain or none.")
  package var progress = ProgressChoice.auto

  package init() {}

  /// The options for verbosity, color and progress as words of a command line, for a run that
  /// continues this run.
  package var words: [String] {
    var words = Array(repeating: "-v", count: verbose)
    if color != .auto { words += ["--color", color.rawValue] }
    if progress != .auto { words += ["--progress", progress.rawValue] }
    return words
  }
}

/// The options for questions to the user.
package struct QuestionOptions: ParsableArguments, Sendable {
  @Flag(name: .long, help: "Never ask for input; fail if input is required.")
  package var noInput = false

  @Flag(name: .shortAndLong, help: "Answer yes to every question.")
  package var yes = false

  package init() {}
}
