/// A run that may ask the user questions.
package protocol InteractiveSession: Sendable {
  var console: Console { get }
  var output: OutputOptions { get }
  var questions: QuestionOptions { get }
  var environment: [String: String] { get }
  var interruption: Interruption { get }
}

extension InteractiveSession {
  /// Whether the options permit questions.
  package var mayAsk: Bool { !questions.noInput && !output.json && !output.quiet }
}
