/// A run that may ask its user.
package protocol InteractiveSession: Sendable {
  var console: Console { get }
  var output: OutputOptions { get }
  var questions: QuestionOptions { get }
  var environment: [String: String] { get }
  var interruption: Interruption { get }
}

extension InteractiveSession {
  /// Whether the options permit a question.
  package var mayAsk: Bool { !questions.noInput && !output.json && !output.quiet }
}
