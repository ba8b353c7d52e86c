/// A piece of work on a device that must not be interleaved with any other: one read, or a whole
/// firmware update. `Context` is what it works on.
///
/// Decorators wrap a command in a new one: `timeLimit`, `retrying`, `preceded`, `followed`,
/// `mapFailure`. They nest, the outermost last. `CommandDecorator` wraps every command of a queue.
public struct Command<Context: Sendable, Output: Sendable, Failure: Error>: Sendable {
  /// What a log calls it.
  public let name: String
  let body: @Sendable (Context) async throws(Failure) -> Output

  /// A command of your own.
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
    timeLimit(duration, on: clock, turning: { _ in timeout })
  }

  /// Ends the command after `duration` by cancelling it; it then fails with what `timeout` makes of
  /// the failure that it ended with.
  func timeLimit(
    _ duration: Duration, on clock: any LinkClock,
    turning timeout: @escaping @Sendable (Failure) -> Failure
  ) -> Command {
    Command(name) { [self] (context) async throws(Failure) -> Output in
      try await run(with: context, within: duration, on: clock, turning: timeout)
    }
  }

  func run(
    with context: Context, within duration: Duration, on clock: any LinkClock,
    turning timeout: @Sendable (Failure) -> Failure
  ) async throws(Failure) -> Output {
    let ending: (Failure) -> Failure = { failure in
      (context as? any ConnectedContext)?.noteTimeout()
      return timeout(failure)
    }
    return try await withDeadline(
      clock.now.advanced(by: duration), on: clock, turning: ending
    ) { () async throws(Failure) -> Output in try await run(with: context) }
  }

  /// Runs the command again after a failure that `isWorthRetrying` accepts, as often as `strategy`
  /// permits, with its waits between. On a peripheral, a retry begins on a new connection where a
  /// time limit within this command ran out, or where a request is still without an answer: what
  /// comes behind one waits for it.
  ///
  /// - Parameters:
  ///   - strategy: the waits, and the most further attempts.
  ///   - clock: for the waits.
  ///   - random: 0 ..< 1 for the strategy's jitter; `nil` takes the clock's.
  ///   - isWorthRetrying: `false` throws the failure at once.
  public func retrying(
    _ strategy: ReconnectionStrategy, on clock: any LinkClock,
    random: (@Sendable () -> Double)? = nil,
    when isWorthRetrying: @escaping @Sendable (Failure) -> Bool
  ) -> Command {
    Command(name) { [self] (context) async throws(Failure) -> Output in
      var attempt = 1
      while true {
        do throws(Failure) {
          return try await run(with: context)
        } catch {
          let fraction = random?() ?? clock.randomFraction()
          guard isWorthRetrying(error),
            let delay = strategy.delay(beforeAttempt: attempt, random: fraction),
            await clock.pause(for: delay)
          else { throw error }
          (context as? any ConnectedContext)?.leaveSilentConnection()
          attempt += 1
        }
      }
    }
  }
}

/// A failure that tells how far the work came, also where a time limit ended it.
public protocol TimeLimitedFault: Error {
  /// The failure that this one is, where the work was cancelled because `limit` had passed; itself
  /// where the limit had no part in it.
  func ended(by limit: Duration) -> Self
}

// MARK: Combinations

/// How a command of two parts failed, where the parts fail in different ways.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum MultipleFaults<Main: Error, Other: Error>: Error {
  /// The command itself.
  case main(Main)
  /// What was put before or behind it.
  case other(Other)
}

extension MultipleFaults: Equatable where Main: Equatable, Other: Equatable {}

extension Command {
  /// The same command with another kind of failure, so that it can be combined with others.
  public func mapFailure<Other: Error>(
    _ transform: @escaping @Sendable (Failure) -> Other
  ) -> Command<Context, Output, Other> {
    Command<Context, Output, Other>(name) { [self] (context) async throws(Other) -> Output in
      do throws(Failure) { return try await run(with: context) } catch { throw transform(error) }
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

  /// As above, where the preparation fails in its own way.
  public func preceded<Ignored: Sendable, Other: Error>(
    by preparation: Command<Context, Ignored, Other>
  ) -> Command<Context, Output, MultipleFaults<Failure, Other>> {
    mapFailure { .main($0) }.preceded(by: preparation.mapFailure { .other($0) })
  }

  /// Runs `conclusion` (to log out, to disconnect) after the command, in the same turn, each time
  /// the command is run and however it ended. The command's own failure is thrown before one of the
  /// conclusion.
  ///
  /// Cancelling the command does not cancel the conclusion: it runs to its end or to `limit`.
  ///
  /// - Parameters:
  ///   - conclusion: the work after the command.
  ///   - limit: the longest time for the conclusion; it is cancelled then. More than 0.
  ///   - clock: measures the limit.
  public func followed<Ignored: Sendable>(
    by conclusion: Command<Context, Ignored, Failure>, within limit: Duration,
    on clock: any LinkClock
  ) -> Command {
    followed(by: conclusion, within: limit, measuredBy: { _ in clock })
  }

  /// As above, where the conclusion fails in its own way.
  public func followed<Ignored: Sendable, Other: Error>(
    by conclusion: Command<Context, Ignored, Other>, within limit: Duration,
    on clock: any LinkClock
  ) -> Command<Context, Output, MultipleFaults<Failure, Other>> {
    mapFailure { .main($0) }
      .followed(by: conclusion.mapFailure { .other($0) }, within: limit, on: clock)
  }

  /// - Parameter clock: the clock of a context.
  func followed<Ignored: Sendable>(
    by conclusion: Command<Context, Ignored, Failure>, within limit: Duration,
    measuredBy clock: @escaping @Sendable (Context) -> any LinkClock
  ) -> Command {
    precondition(limit > .zero, "a conclusion needs time")
    return Command(name) { [self] (context) async throws(Failure) -> Output in
      let result: Result<Output, Failure>
      do throws(Failure) { result = .success(try await run(with: context)) } catch {
        result = .failure(error)
      }
      let concluded = await shielded { () async -> Result<Ignored, Failure> in
        do throws(Failure) {
          return .success(
            try await conclusion.run(
              with: context, within: limit, on: clock(context), turning: { $0 }))
        } catch {
          return .failure(error)
        }
      }
      let output = try result.get()
      _ = try concluded.get()
      return output
    }
  }
}
