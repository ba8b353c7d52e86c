/// A piece of work on a device that must not be interleaved with any other: one read, or a whole
/// firmware update. `Context` is what it works on.
///
/// Decorators wrap a command in a new one: `timeLimit`, `retrying`, `preceded`. They nest, the
/// outermost first.
public struct Command<Context: Sendable, Output: Sendable, Failure: Error>: Sendable {
  public let name: String
  let body: @Sendable (Context) async throws(Failure) -> Output

  public init(
    _ name: String, _ body: @escaping @Sendable (Context) async throws(Failure) -> Output
  ) {
    self.name = name
    self.body = body
  }

  /// Runs the command. To be called in a queue's turn.
  public func run(with context: Context) async throws(Failure) -> Output {
    try await body(context)
  }

  /// Ends the command after `duration` by cancelling it; it then fails with `timeout`.
  public func timeLimit(
    _ duration: Duration, on clock: any LinkClock, orThrow timeout: Failure
  ) -> Command {
    Command(name) { [self] (context) async throws(Failure) -> Output in
      try await withDeadline(clock.now.advanced(by: duration), on: clock, orThrow: timeout) {
        () async throws(Failure) -> Output in
        try await run(with: context)
      }
    }
  }

  /// Runs the command again after a failure that `isWorthRetrying` accepts, as often as `strategy`
  /// permits, with its waits between.
  ///
  /// - Parameter random: 0 ..< 1 for the strategy's jitter.
  public func retrying(
    _ strategy: ReconnectionStrategy, on clock: any LinkClock,
    random: @escaping @Sendable () -> Double,
    when isWorthRetrying: @escaping @Sendable (Failure) -> Bool
  ) -> Command {
    Command(name) { [self] (context) async throws(Failure) -> Output in
      var attempt = 1
      while true {
        do throws(Failure) {
          return try await run(with: context)
        } catch {
          guard isWorthRetrying(error),
            let delay = strategy.delay(beforeAttempt: attempt, random: random()),
            await clock.pause(for: delay)
          else { throw error }
          attempt += 1
        }
      }
    }
  }

  /// Runs `preparation` (to connect, to authorize) before the command, in the same turn and each
  /// time the command is run.
  public func preceded<Ignored: Sendable>(
    by preparation: Command<Context, Ignored, Failure>
  ) -> Command {
    Command(name) { [self] (context) async throws(Failure) -> Output in
      _ = try await preparation.run(with: context)
      return try await run(with: context)
    }
  }
}

/// Why a queued command gave no result.
public enum QueueFault<Failure: Error>: Error {
  /// The caller was cancelled before the command's turn came; the command did not run.
  case cancelledInQueue
  /// As many commands wait as the queue holds.
  case full(limit: Int)
  case closed
  /// The command ran and failed.
  case failed(Failure)
}

extension QueueFault: Equatable where Failure: Equatable {}

/// Commands for one device, one at a time, first in, first out.
///
/// Cancelling the task that waits in `perform` takes the command out of the queue, or cancels it
/// when it is running.
public final class CommandQueue: Sendable {
  /// The most commands that may wait.
  public static let waitingMaximum = 64

  private let gate = SerialGate(waitersMaximum: CommandQueue.waitingMaximum)

  public init() {}

  /// How many commands wait for their turn.
  public var waitingCount: Int { gate.waitingCount }

  /// Waits for the command's turn and runs it in the caller's task.
  public func perform<Context, Output, Failure>(
    _ command: Command<Context, Output, Failure>, with context: Context
  ) async throws(QueueFault<Failure>) -> Output {
    switch await gate.enter() {
    case .entered: break
    case .cancelled: throw .cancelledInQueue
    case .closed: throw .closed
    case .full: throw .full(limit: Self.waitingMaximum)
    }
    defer { gate.leave() }
    do throws(Failure) {
      return try await command.run(with: context)
    } catch {
      throw .failed(error)
    }
  }

  /// Turns away every command that waits and every later one.
  public func close() { gate.close() }
}
