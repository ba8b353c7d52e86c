/// A wrapper for every command of a queue. Conform a type to this protocol for a custom decorator;
/// the methods of `CommandPerformer` add the standard decorators.
public protocol CommandDecorator<Context>: Sendable {
  /// The object that the commands work on.
  associatedtype Context: Sendable

  /// Wraps `command` in a new command. The decorator's own failures are `.timedOut` or
  /// `.preparationFailed`; the command's failures are `.failed`.
  func decorate<Output, Failure>(
    _ command: Command<Context, Output, QueueFault<Failure>>
  ) -> Command<Context, Output, QueueFault<Failure>>
}

/// A queue that decorates all its commands. The decorated queue shares the underlying queue: the
/// commands of both queues run one at a time, in order.
public struct DecoratedPerformer<Context: Sendable>: CommandPerformer {
  private let base: any CommandPerformer<Context>
  /// The decorators, the innermost first.
  private var decorators: [any CommandDecorator<Context>] = []

  init(_ base: any CommandPerformer<Context>) { self.base = base }

  fileprivate func adding(_ decorator: any CommandDecorator<Context>) -> DecoratedPerformer {
    var extended = self
    extended.decorators.append(decorator)
    return extended
  }

  public func perform<Output, Failure>(
    _ command: Command<Context, Output, Failure>
  ) async throws(QueueFault<Failure>) -> Output {
    do throws(QueueFault<QueueFault<Failure>>) {
      return try await base.perform(decorated(command))
    } catch {
      throw error.mapped { $0 }
    }
  }

  @discardableResult
  public func enqueue<Output, Failure>(
    _ command: Command<Context, Output, Failure>
  ) -> EnqueuedCommand<Output, Failure> {
    EnqueuedCommand(base.enqueue(decorated(command)))
  }

  private func decorated<Output, Failure>(
    _ command: Command<Context, Output, Failure>
  ) -> Command<Context, Output, QueueFault<Failure>> {
    var decorated = command.mapFailure { QueueFault.failed($0) }
    for decorator in decorators { decorated = decorator.decorate(decorated) }
    return decorated
  }
}

extension CommandPerformer {
  /// Returns a queue that decorates each command and performs it in this queue. Commands that are
  /// performed directly in this queue are not decorated. The last decorator is the outermost.
  public func decorated(by decorator: any CommandDecorator<Context>) -> DecoratedPerformer<Context>
  {
    let base = self as? DecoratedPerformer<Context> ?? DecoratedPerformer(self)
    return base.adding(decorator)
  }

  /// Returns a queue that limits its commands to `duration` from their start; then they fail with
  /// `QueueFault.timedOut`. A command whose failure contains its progress (`TimeLimitedFault`),
  /// such as a firmware update, fails with that failure.
  public func timeLimit(
    _ duration: Duration, on clock: any LinkClock
  ) -> DecoratedPerformer<Context> {
    decorated(by: TimeLimitDecorator<Context>(duration, on: clock))
  }

  /// Returns a queue that repeats a command, without other commands in between, after a failure
  /// that `isWorthRetrying` accepts (`Command.retrying`). The closure receives the command's own
  /// error, or the `QueueFault` of an inner decorator.
  ///
  /// - Parameters:
  ///   - strategy: the waits, and the maximum number of further attempts.
  ///   - clock: the clock for the waits.
  ///   - random: returns a number, 0 ..< 1, for the strategy's jitter; `nil` uses the numbers of
  ///   the clock.
  ///   - isWorthRetrying: returns whether to retry after a failure; otherwise the failure is
  ///   thrown.
  public func retrying(
    _ strategy: ReconnectionStrategy, on clock: any LinkClock,
    random: (@Sendable () -> Double)? = nil,
    when isWorthRetrying: @escaping @Sendable (any Error) -> Bool
  ) -> DecoratedPerformer<Context> {
    decorated(
      by: RetryDecorator<Context>(
        strategy: strategy, clock: clock, random: random, isWorthRetrying: isWorthRetrying))
  }

  /// Returns a queue that runs `preparation` (for example to connect or to authorize) before each
  /// of its commands.
  public func preceded<Ignored, Failure>(
    by preparation: Command<Context, Ignored, Failure>
  ) -> DecoratedPerformer<Context> {
    decorated(by: PreparationDecorator<Context>(preparation))
  }

  /// Returns a queue that runs `conclusion` (for example to log out or to disconnect) after each of
  /// its commands, even after a failure (`Command.followed`). Cancelling a command does not
  /// cancel the conclusion.
  ///
  /// - Parameters:
  ///   - conclusion: the command that runs after each command.
  ///   - limit: the time limit of the conclusion. More than 0.
  ///   - clock: the clock for the limit.
  public func followed<Ignored, Failure>(
    by conclusion: Command<Context, Ignored, Failure>, within limit: Duration,
    on clock: any LinkClock
  ) -> DecoratedPerformer<Context> {
    decorated(by: ConclusionDecorator<Context>(conclusion, within: limit) { _ in clock })
  }
}

/// Limits the time of each command (`CommandPerformer.timeLimit`).
struct TimeLimitDecorator<Context: Sendable>: CommandDecorator {
  private let duration: Duration
  private let clock: any LinkClock

  init(_ duration: Duration, on clock: any LinkClock) {
    self.duration = duration
    self.clock = clock
  }

  func decorate<Output, Failure>(
    _ command: Command<Context, Output, QueueFault<Failure>>
  ) -> Command<Context, Output, QueueFault<Failure>> {
    command.timeLimit(duration, on: clock) { [duration] fault in
      if case .failed(let failure as any TimeLimitedFault) = fault,
        let ended = failure.ended(by: duration) as? Failure
      {
        .failed(ended)
      } else {
        .timedOut(after: duration)
      }
    }
  }
}

/// Repeats each command after some failures (`CommandPerformer.retrying`).
struct RetryDecorator<Context: Sendable>: CommandDecorator {
  let strategy: ReconnectionStrategy
  let clock: any LinkClock
  let random: (@Sendable () -> Double)?
  let isWorthRetrying: @Sendable (any Error) -> Bool

  func decorate<Output, Failure>(
    _ command: Command<Context, Output, QueueFault<Failure>>
  ) -> Command<Context, Output, QueueFault<Failure>> {
    command.retrying(strategy, on: clock, random: random) { fault in
      if case .failed(let failure) = fault {
        isWorthRetrying(failure)
      } else {
        isWorthRetrying(fault)
      }
    }
  }
}

/// Runs another command before each command (`CommandPerformer.preceded`).
struct PreparationDecorator<Context: Sendable>: CommandDecorator {
  private let preparation: Command<Context, Void, any Error>

  init<Ignored, Failure>(_ preparation: Command<Context, Ignored, Failure>) {
    self.preparation = preparation.untyped
  }

  func decorate<Output, Failure>(
    _ command: Command<Context, Output, QueueFault<Failure>>
  ) -> Command<Context, Output, QueueFault<Failure>> {
    command.preceded(by: preparation.mapFailure { QueueFault<Failure>.preparationFailed($0) })
  }
}

/// Runs another command after each command (`CommandPerformer.followed`).
struct ConclusionDecorator<Context: Sendable>: CommandDecorator {
  private let conclusion: Command<Context, Void, any Error>
  private let limit: Duration
  private let clock: @Sendable (Context) -> any LinkClock

  init<Ignored, Failure>(
    _ conclusion: Command<Context, Ignored, Failure>, within limit: Duration,
    measuredBy clock: @escaping @Sendable (Context) -> any LinkClock
  ) {
    self.conclusion = conclusion.untyped
    self.limit = limit
    self.clock = clock
  }

  func decorate<Output, Failure>(
    _ command: Command<Context, Output, QueueFault<Failure>>
  ) -> Command<Context, Output, QueueFault<Failure>> {
    command.followed(
      by: conclusion.mapFailure { QueueFault<Failure>.preparationFailed($0) }, within: limit,
      measuredBy: clock)
  }
}

extension Command {
  /// Returns the same command without its output, with any failure.
  fileprivate var untyped: Command<Context, Void, any Error> {
    Command<Context, Void, any Error>(name) { (context) async throws(any Error) in
      _ = try await run(with: context)
    }
  }
}
