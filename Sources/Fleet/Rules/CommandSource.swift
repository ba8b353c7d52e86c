/// A request that somebody put, and nobody has answered yet.
package struct PendingCommand: Hashable, Sendable {
  package let number: Int
  package let command: OperatorCommand
  /// Who put it, and why; `nil` = that was not recorded.
  package let action: OperatorAction?

  package init(number: Int, command: OperatorCommand, action: OperatorAction? = nil) {
    self.number = number
    self.command = command
    self.action = action
  }
}

/// What the answer to a request says; everything else is why it was refused.
package enum CommandAnswer {
  package static let done = "done"
}

/// Where people's requests for a run come from, such as another terminal.
package protocol CommandSource: Sendable {
  /// Those that nobody has answered, the oldest first.
  func pending() async throws(StorageFault) -> [PendingCommand]

  /// Tells whoever asked what became of it, in words.
  func answer(_ pending: PendingCommand, _ words: String) async throws(StorageFault)
}
