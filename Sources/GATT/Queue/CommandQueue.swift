/// What performs commands, each in its turn: a peripheral, or one whose queue is decorated.
public protocol CommandPerformer<Context>: Sendable {
  /// What the commands work on.
  associatedtype Context: Sendable

  /// Waits for the command's turn and runs it in the caller's task.
  func perform<Output, Failure>(
    _ command: Command<Context, Output, Failure>
  ) async throws(QueueFault<Failure>) -> Output

  /// Puts the command in the queue from any context, without waiting: commands run in the order of
  /// these calls and those of `perform`. The command runs whether or not its result is awaited.
  @discardableResult
  func enqueue<Output, Failure>(
    _ command: Command<Context, Output, Failure>
  ) -> EnqueuedCommand<Output, Failure>
}

/// Commands for one device, one at a time, first in, first out.
///
/// Cancelling the task that waits in `perform` takes the command out of the queue, or cancels it
/// when it is running.
public final class CommandQueue: Sendable {
  /// The most commands that may wait where nothing else was asked for.
  public static let waitingDefault = 64

  /// The most commands that may wait.
  public let waitingMaximum: Int
  private let gate: SerialGate

  /// - Parameter waitingMaximum: the most commands that may wait, 0 or more.
  public init(waitingMaximum: Int = waitingDefault) {
    precondition(waitingMaximum >= 0, "a queue cannot hold fewer than none")
    self.waitingMaximum = waitingMaximum
    gate = SerialGate(waitersMaximum: waitingMaximum)
  }

  /// How many commands wait for their turn.
  public var waitingCount: Int { gate.waitingCount }

  /// Waits for the command's turn and runs it in the caller's task.
  public func perform<Context, Output, Failure>(
    _ command: Command<Context, Output, Failure>, with context: Context
  ) async throws(QueueFault<Failure>) -> Output {
    try await perform(command, with: context, at: reserve())
  }

  /// Turns away every command that waits and every later one.
  public func close() { gate.close() }

  // MARK: Places

  /// A place in the queue, which must be performed at or given up.
  func reserve() -> SerialGate.Arrival { gate.arrive() }

  func giveUp(_ place: SerialGate.Arrival) { gate.giveUp(place) }

  /// - Parameter isCancelled: asked when the turn has come, which may be before the cancellation
  ///   has reached the task that waits for it.
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
