/// The state of the previous run in the same store, when a new run started. The first event of the
/// new run contains it, so that a later deletion or change of the previous run is detected.
public struct FormerRun: Hashable, Sendable, Codable {
  /// The id of the run.
  public var id: String
  /// The number of events of the run.
  public var events: Int
  /// The hash of the run's last event, in hex digits.
  public var head: String

  /// Creates the state of a run.
  public init(id: String, events: Int, head: String) {
    self.id = id
    self.events = events
    self.head = head
  }
}
