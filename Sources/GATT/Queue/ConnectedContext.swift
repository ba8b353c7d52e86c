/// What a command works on, where that has a connection which may have fallen silent.
protocol ConnectedContext {
  /// A time limit ended the command.
  func noteTimeout()
  /// Ends a connection that nothing can be expected of any more, so that the next attempt makes a
  /// new one instead of waiting behind a request that is never answered.
  func leaveSilentConnection()
}
