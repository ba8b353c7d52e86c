/// The context of a command with a connection that may have become unresponsive.
protocol ConnectedContext {
  /// Records that a time limit ended the command.
  func noteTimeout()
  /// Ends the connection if it may be unresponsive, so that the next attempt connects again instead
  /// of waiting for a response that never arrives.
  func leaveSilentConnection()
}
