import OtaflashConsole

/// One run of one command: its output, its arguments, and its cancellation.
package struct Session: InteractiveSession {
  package let console: Console
  package let updates: UpdateDisplay
  package let global: GlobalOptions
  package let context: FaultContext
  package let environment: [String: String]
  package let interruption: Interruption
  /// The files that the run reads or in which it stores its state; no output may overwrite these
  /// files.
  package let inputs: InputFiles
  /// The recording of links; `nil` if not requested.
  package let capture: Capture?

  package init(
    console: Console, updates: UpdateDisplay, global: GlobalOptions, context: FaultContext,
    environment: [String: String], interruption: Interruption, inputs: InputFiles, capture: Capture?
  ) {
    self.console = console
    self.updates = updates
    self.global = global
    self.context = context
    self.environment = environment
    self.interruption = interruption
    self.inputs = inputs
    self.capture = capture
  }

  package var output: OutputOptions { global.output }
  package var questions: QuestionOptions { global.questions }

  /// Returns a command line of this program, quoted for the shell, for use in messages.
  package func command(_ words: String...) -> String {
    ([context.program] + words.map(ShellWords.quote)).joined(separator: " ")
  }
}
