/// The run that was started before another one in the same store, as it was at that moment. A later
/// run names it in its first event, so a run that was deleted or rewritten since is noticed.
public struct FormerRun: Hashable, Sendable, Codable {
  public var id: String
  /// The number of its events.
  public var events: Int
  /// The hash of its last event, in hex digits.
  public var head: String

  public init(id: String, events: Int, head: String) {
    self.id = id
    self.events = events
    self.head = head
  }
}
