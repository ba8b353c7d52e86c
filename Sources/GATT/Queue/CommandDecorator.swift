/// Something that is done to every command of a queue. Conform a type to it for a decorator of your
/// own; `CommandPerformer` has methods for those below.
public protocol CommandDecorator<Context>: Sendable {
  /// What the commands work on.
  associatedtype Context: Sendable

  /// Wraps `command` in a new one. What the decorator itself fails with is `.timedOut` or
  /// `.preparationFailed`; the command's own failures are `.failed`.
  func decorate<Output, Failure>(
    _ command: Command<Context, Output, QueueFault<Failure>>
  ) -> Command<Context, Output, QueueFault<Failure>>
}

/// A queue each of whose commands is decorated alike. The queue is the one below: commands of both
/// take turns.
public struct DecoratedPerformer<Context: Sendable>: CommandPerformer {
  private let base: any CommandPerformer<Context>
  /// The innermost first.
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
    var decorated = command.mapFailure { QueueFault.failed($0) }
    for decorator in decorators { decorated = decorator.decorate(decorated) }
    do throws(QueueFault<QueueFault<Failure>>) {
      return try await base.perform(decorated)
    } catch {
      throw error.mapped { $0 }
    }
  }
}

extension CommandPerformer {
  /// The same queue, with each of its commands decorated. What is added last is outermost.
  public func decorated(by decorator: any CommandDecorator<Context>) -> DecoratedPerformer<Context>
  {
    let base = self as? DecoratedPerformer<Context> ?? DecoratedPerformer(self)
    return base.adding(decorator)
  }

  /// The same queue, whose commands end after `duration` from their turn on, with
  /// `QueueFault.timedOut`; one whose failure tells how far it came (`TimeLimitedFault`), such as a
  /// firmware update, with that.
  public func timeLimit(
    _ duration: Duration, on clock: any LinkClock
  ) -> DecoratedPerformer<Context> {
    decorated(by: TimeLimitDecorator<Context>(duration, on: clock))
  }

  /// The same queue, whose commands are run again, in the same turn, after a failure that
  /// `isWorthRetrying` accepts (`Command.retrying`). It gets the command's own error, or the
  /// `QueueFault` of an inner decorator.
  ///
  /// - Parameters:
  ///   - strategy: the waits, and the most further attempts.
  ///   - clock: for the waits.
  ///   - random: 0 ..< 1 for the strategy's jitter; `nil` takes the clock's.
  ///   - isWorthRetrying: `false` throws the failure at once.
  public func retrying(
    _ strategy: ReconnectionStrategy, on clock: any LinkClock,
    random: (@Sendable () -> Double)? = nil,
    when isWorthRetrying: @escaping @Sendable (any Error) -> Bool
  ) -> DecoratedPerformer<Context> {
    decorated(
      by: RetryDecorator<Context>(
        strategy: strategy, clock: clock, random: random, isWorthRetrying: isWorthRetrying))
  }

  /// The same queue, with `preparation` (to connect, to authorize) before each of its commands.
  public func preceded<Ignored, Failure>(
    by preparation: Command<Context, Ignored, Failure>
  ) -> DecoratedPerformer<Context> {
    decorated(by: PreparationDecorator<Context>(preparation, isConclusion: false))
  }

  /// The same queue, with `conclusion` (to disconnect) behind each of its commands, however it
  /// ended.
  public func followed<Ignored, Failure>(
    by conclusion: Command<Context, Ignored, Failure>
  ) -> DecoratedPerformer<Context> {
    decorated(by: PreparationDecorator<Context>(conclusion, isConclusion: true))
  }
}

/// Ends each command after a time (`CommandPerformer.timeLimit`).
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

/// Runs each command again after some failures (`CommandPerformer.retrying`).
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

/// Runs another command before or behind each (`CommandPerformer.preceded`, `followed`).
struct PreparationDecorator<Context: Sendable>: CommandDecorator {
  private let preparation: Command<Context, Void, any Error>
  private let isConclusion: Bool

  init<Ignored, Failure>(
    _ preparation: Command<Context, Ignored, Failure>, isConclusion: Bool
  ) {
    self.isConclusion = isConclusion
    self.preparation = Command(preparation.name) { (context) async throws(any Error) in
      _ = try await preparation.run(with: context)
    }
  }

  func decorate<Output, Failure>(
    _ command: Command<Context, Output, QueueFault<Failure>>
  ) -> Command<Context, Output, QueueFault<Failure>> {
    let typed = preparation.mapFailure { QueueFault<Failure>.preparationFailed($0) }
    return isConclusion ? command.followed(by: typed) : command.preceded(by: typed)
  }
}
