/// A command that was added to a queue without waiting for its result.
public struct EnqueuedCommand<Output: Sendable, Failure: Error>: Sendable {
  private let result: @Sendable () async throws(QueueFault<Failure>) -> Output
  private let cancellation: @Sendable () -> Void

  init(_ ticket: CommandTicket<Output, Failure>) {
    result = { () async throws(QueueFault<Failure>) -> Output in try await ticket.value }
    cancellation = { ticket.cancel() }
  }

  /// Creates the command `other`, with the failures of its decorators and its own failures in one
  /// type.
  init(_ other: EnqueuedCommand<Output, QueueFault<Failure>>) {
    result = { () async throws(QueueFault<Failure>) -> Output in
      do throws(QueueFault<QueueFault<Failure>>) { return try await other.value } catch {
        throw error.mapped { $0 }
      }
    }
    cancellation = other.cancellation
  }

  /// The result, available when the command has ended. The result may be read any number of times;
  /// cancelling a task that waits for the result cancels neither the wait nor the command.
  public var value: Output {
    get async throws(QueueFault<Failure>) { try await result() }
  }

  /// Removes a waiting command from the queue, so that it never starts, or cancels a running
  /// command.
  public func cancel() { cancellation() }
}
