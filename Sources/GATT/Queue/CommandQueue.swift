/// An object that performs commands one at a time: a peripheral, or a peripheral with a decorated
/// queue.
public protocol CommandPerformer<Context>: Sendable {
  /// The object that the commands work on.
  associatedtype Context: Sendable

  /// Waits for the commands before `command`, and then runs it in the caller's task.
  func perform<Output, Failure>(
    _ command: Command<Context, Output, Failure>
  ) async throws(QueueFault<Failure>) -> Output

  /// Adds the command to the queue from any context, without waiting. Commands run in the order of
  /// these calls and of calls to `perform`. The command runs even if its result is not awaited.
  @discardableResult
  func enqueue<Output, Failure>(
    _ command: Command<Context, Output, Failure>
  ) -> EnqueuedCommand<Output, Failure>
}

/// Commands for one device, one at a time, first in, first out.
///
/// Cancelling the task that waits in `perform` removes a waiting command from the queue, or cancels
/// a running command.
public final class CommandQueue: Sendable {
  /// The default maximum number of waiting commands.
  public static let waitingDefault = 64

  /// The maximum number of waiting commands.
  public let waitingMaximum: Int
  private let gate: SerialGate

  /// - Parameter waitingMaximum: the maximum number of waiting commands, 0 or more.
  public init(waitingMaximum: Int = waitingDefault) {
    precondition(waitingMaximum >= 0, "the capacity of a queue is 0 or more")
    self.waitingMaximum = waitingMaximum
    gate = SerialGate(waitersMaximum: waitingMaximum)
  }

  /// The number of waiting commands.
  public var waitingCount: Int { gate.waitingCount }

  /// Waits for the commands before `command`, and then runs it in the caller's task.
  public func perform<Context, Output, Failure>(
    _ command: Command<Context, Output, Failure>, with context: Context
  ) async throws(QueueFault<Failure>) -> Output {
    try await perform(command, with: context, at: reserve())
  }

  /// Rejects all present and future commands.
  public func close() { gate.close() }

  // MARK: Places

  /// Reserves a place in the queue. The caller must pass the place to `perform`, or give up the
  /// place.
  func reserve() -> SerialGate.Arrival { gate.arrive() }

  func giveUp(_ place: SerialGate.Arrival) { gate.giveUp(place) }

  /// Runs `command` at a reserved place in the queue.
  ///
  /// - Parameter isCancelled: returns whether the command was cancelled. Called when the command
  ///   can start, because the cancellation may not have reached the waiting task yet.
  func perform<Context, Output, Failure>(
    _ command: Command<Context, Output, Failure>, with context: Context,
    at place: SerialGate.Arrival, unless isCancelled: () -> Bool = { false }
  ) async throws(QueueFault<Failure>) -> Output {
    switch await gate.enter(at: place) {
    case .entered: break
    case .cancelled: throw .cancelledInQueue
    case .closed: throw .closed
    case .full: throw .full(limit: waitingMaximum)
    }
    defer { gate.leave() }
    guard !isCancelled() else { throw .cancelledInQueue }
    do throws(Failure) {
      return try await command.run(with: context)
    } catch {
      throw .failed(error)
    }
  }
}
