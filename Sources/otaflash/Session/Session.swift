import OtaflashConsole

/// One run of one command: where it writes, what it was asked, and who may stop it.
struct Session: InteractiveSession {
  let console: Console
  let updates: UpdateDisplay
  let global: GlobalOptions
  let context: FaultContext
  let environment: [String: String]
  let interruption: Interruption
  /// What the run reads and keeps, which nothing of it may be written over.
  let inputs: InputFiles
  /// Where links are recorded, if anywhere.
  let capture: Capture?

  var output: OutputOptions { global.output }
  var questions: QuestionOptions { global.questions }

  /// The program as it was called, for commands that are printed to be pasted.
  func command(_ words: String...) -> String {
    ([context.program] + words.map(ShellWords.quote)).joined(separator: " ")
  }
}
