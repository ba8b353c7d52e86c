/// One run of one command: where it writes, what it was asked, and who may stop it.
struct Session: Sendable {
  let console: Console
  let global: GlobalOptions
  let context: FaultContext
  let environment: [String: String]
  let interruption: Interruption
  /// Where links are recorded, if anywhere.
  var capture: CaptureFile?

  /// The program as it was called, for commands that are printed to be pasted.
  func command(_ words: String...) -> String {
    ([context.program] + words.map(ShellWords.quote)).joined(separator: " ")
  }
}
