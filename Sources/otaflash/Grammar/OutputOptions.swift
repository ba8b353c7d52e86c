import ArgumentParser

enum ColorChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, always, never
}

enum ProgressChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, bar, plain, none
}

/// The options that set what a run prints.
struct OutputOptions: ParsableArguments, Sendable {
  @Flag(name: .shortAndLong, help: "Say more; -vv tells each step of a connection, -vvv each PDU.")
  var verbose: Int

  @Flag(name: .shortAndLong, help: "Print the result and errors only.")
  var quiet = false

  @Flag(name: .long, help: "Write JSON Lines (schema version 1) to standard output.")
  var json = false

  @Option(name: .long, help: "When to colour: auto, always or never.")
  var color = ColorChoice.auto

  @Option(name: .long, help: "How to show progress: auto, bar, plain or none.")
  var progress = ProgressChoice.auto

  /// These options as words, for a run that continues this one.
  var words: [String] {
    var words = Array(repeating: "-v", count: verbose)
    if color != .auto { words += ["--color", color.rawValue] }
    if progress != .auto { words += ["--progress", progress.rawValue] }
    return words
  }
}

/// The options that set whether a run asks its user anything.
struct QuestionOptions: ParsableArguments, Sendable {
  @Flag(name: .long, help: "Never ask anything; refuse where a question would be asked.")
  var noInput = false

  @Flag(name: .shortAndLong, help: "Answer every question with yes.")
  var yes = false
}
