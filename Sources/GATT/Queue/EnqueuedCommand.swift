/// A command that was put into a queue without waiting for its result.
public struct EnqueuedCommand<Output: Sendable, Failure: Error>: Sendable {
  private let result: @Sendable () async throws(QueueFault<Failure>) -> Output
  private let cancellation: @Sendable () -> Void

  init(_ ticket: CommandTicket<Output, Failure>) {
    result = { () async throws(QueueFault<Failure>) -> Output in try await ticket.value }
    cancellation = { ticket.cancel() }
  }

  /// The command `other`, whose decorators fail inside its own failure.
  init(_ other: EnqueuedCommand<Output, QueueFault<Failure>>) {
    result = { () async throws(QueueFault<Failure>) -> Output in
      do throws(QueueFault<QueueFault<Failure>>) { return try await other.value } catch {
        throw error.mapped { $0 }
      }
    }
    cancellation = other.cancellation
  }

  /// The result, when the command has ended. May be read any number of times; cancelling a task
  /// that waits here cancels neither the wait nor the command.
  public var value: Output {
    get async throws(QueueFault<Failure>) { try await result() }
  }

  /// Takes the command out of the queue, or cancels it when it is running. One that has not started
  /// never does.
  public func cancel() { cancellation() }
}
