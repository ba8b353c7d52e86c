/// A request that somebody put, and nobody has answered yet.
public struct PendingCommand: Hashable, Sendable {
  public let number: Int
  public let command: OperatorCommand
  /// Who put it, and why; `nil` = that was not recorded.
  public let action: OperatorAction?

  public init(number: Int, command: OperatorCommand, action: OperatorAction? = nil) {
    self.number = number
    self.command = command
    self.action = action
  }
}

/// What the answer to a request says; everything else is why it was refused.
public enum CommandAnswer {
  public static let done = "done"
}

/// Where people's requests for a run come from, such as another terminal.
public protocol CommandSource: Sendable {
  /// Those that nobody has answered, the oldest first.
  func pending() async throws(StorageFault) -> [PendingCommand]

  /// Tells whoever asked what became of it, in words.
  func answer(_ pending: PendingCommand, _ words: String) async throws(StorageFault)
}
