/// An operator's command to which the run has not replied.
public struct PendingCommand: Hashable, Sendable {
  /// The number of the command in its source.
  public let number: Int
  /// The command.
  public let command: OperatorCommand
  /// The operator and the reason; `nil` = not recorded.
  public let action: OperatorAction?

  /// Creates a command to which the run has not replied.
  public init(number: Int, command: OperatorCommand, action: OperatorAction? = nil) {
    self.number = number
    self.command = command
    self.action = action
  }
}

/// The answer to a command that was carried out. Every other answer is the reason for a refusal.
public enum CommandAnswer {
  /// The command was carried out.
  public static let done = "done"
}

/// The source of operator commands for a run, such as another terminal.
public protocol CommandSource: Sendable {
  /// Returns the commands to which the run has not replied, the oldest first.
  func pending() async throws(StorageFault) -> [PendingCommand]

  /// Sends the result to the sender of the command, as text.
  func answer(_ pending: PendingCommand, _ words: String) async throws(StorageFault)
}
