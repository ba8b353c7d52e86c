/// A device's refusal for people.
package struct RefusalWords: Equatable, Sendable {
  /// What was wrong: a clause without a full stop.
  package let cause: String
  /// What to do about it: one or two whole sentences.
  package let remedy: String

  init(_ cause: String, _ remedy: String) {
    self.cause = cause
    self.remedy = remedy
  }
}
