/// The run that was started before another one in the same store, as it was at that moment. A later
/// run names it in its first event, so a run that was deleted or rewritten since is noticed.
package struct FormerRun: Hashable, Sendable, Codable {
  package var id: String
  /// The number of its events.
  package var events: Int
  /// The hash of its last event, in hex digits.
  package var head: String

  package init(id: String, events: Int, head: String) {
    self.id = id
    self.events = events
    self.head = head
  }
}
