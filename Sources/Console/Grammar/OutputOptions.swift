import ArgumentParser

package enum ColorChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, always, never
}

package enum ProgressChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, bar, plain, none
}

/// The options that set what a run prints.
package struct OutputOptions: ParsableArguments, Sendable {
  @Flag(name: .shortAndLong, help: "Say more; -vv tells each step of a connection, -vvv each PDU.")
  package var verbose: Int

  @Flag(name: .shortAndLong, help: "Print the result and errors only.")
  package var quiet = false

  @Flag(name: .long, help: "Write JSON Lines (schema version 1) to standard output.")
  package var json = false

  @Option(name: .long, help: "When to colour: auto, always or never.")
  package var color = ColorChoice.auto

  @Option(name: .long, help: "How to show progress: auto, bar, plain or none.")
  package var progress = ProgressChoice.auto

  package init() {}

  /// These options as words, for a run that continues this one.
  package var words: [String] {
    var words = Array(repeating: "-v", count: verbose)
    if color != .auto { words += ["--color", color.rawValue] }
    if progress != .auto { words += ["--progress", progress.rawValue] }
    return words
  }
}

/// The options that set whether a run asks its user anything.
package struct QuestionOptions: ParsableArguments, Sendable {
  @Flag(name: .long, help: "Never ask anything; refuse where a question would be asked.")
  package var noInput = false

  @Flag(name: .shortAndLong, help: "Answer every question with yes.")
  package var yes = false

  package init() {}
}
