/// The reason why a device has no console.
package struct ConsoleAbsence: Equatable, Sendable {
  /// The requested console.
  package let wanted: String
  /// The characteristics of the device that send values.
  package let candidates: [String]

  package init(wanted: String, candidates: [String]) {
    self.wanted = wanted
    self.candidates = candidates
  }
}
