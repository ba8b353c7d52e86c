/// A procedure on a device that must not be interleaved with other procedures, such as a single
/// read or a complete firmware update. `Context` is the object on which the command works.
///
/// Decorators wrap a command in a new command: `timeLimit`, `retrying`, `preceded`, `followed`,
/// `mapFailure`. Decorators nest; the last decorator is the outermost. `CommandDecorator` wraps
/// every command of a queue.
public struct Command<Context: Sendable, Output: Sendable, Failure: Error>: Sendable {
  /// The name in logs.
  public let name: String
  let body: @Sendable (Context) async throws(Failure) -> Output

  /// Creates a command.
  public init(
    _ name: String, _ body: @escaping @Sendable (Context) async throws(Failure) -> Output
  ) {
    self.name = name
    self.body = body
  }

  /// Runs the command. Call this function only while the queue runs this command.
  public func run(with context: Context) async throws(Failure) -> Output {
    try await body(context)
  }

  /// Cancels the command after `duration`; the command then fails with `timeout`, unless it still
  /// returns a result.
  public func timeLimit(
    _ duration: Duration, on clock: any LinkClock, orThrow timeout: Failure
  ) -> Command {
    timeLimit(duration, on: clock, turning: { _ in timeout })
  }

  /// Cancels the command after `duration`. The command then fails with the result of `timeout`,
  /// which receives the failure of the cancelled command.
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

  /// Repeats the command after a failure that `isWorthRetrying` accepts, with the waits and the
  /// number of attempts of `strategy`. On a peripheral, a retry uses a new connection if a time
  /// limit within this command expired, or if a request is still without a response, because later
  /// requests wait for this response.
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

/// A failure that contains the progress of a command, even if a time limit ended the command.
public protocol TimeLimitedFault: Error {
  /// Returns the failure to throw if the command was cancelled after `limit`; `self` if the limit
  /// did not end the command.
  func ended(by limit: Duration) -> Self
}

// MARK: Combinations

/// The failure of a command with two parts that throw different errors.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum MultipleFaults<Main: Error, Other: Error>: Error {
  /// The command itself failed.
  case main(Main)
  /// The part before or after the command failed.
  case other(Other)
}

extension MultipleFaults: Equatable where Main: Equatable, Other: Equatable {}

extension Command {
  /// Returns the same command with another failure type, so that it can be combined with other
  /// commands.
  public func mapFailure<Other: Error>(
    _ transform: @escaping @Sendable (Failure) -> Other
  ) -> Command<Context, Output, Other> {
    Command<Context, Output, Other>(name) { [self] (context) async throws(Other) -> Output in
      do throws(Failure) { return try await run(with: context) } catch { throw transform(error) }
    }
  }

  /// Runs `preparation` (for example to connect or to authorize) before the command, without other
  /// commands in between, each time the command runs.
  public func preceded<Ignored: Sendable>(
    by preparation: Command<Context, Ignored, Failure>
  ) -> Command {
    Command(name) { [self] (context) async throws(Failure) -> Output in
      _ = try await preparation.run(with: context)
      return try await run(with: context)
    }
  }

  /// Runs `preparation`, which throws its own type of error, before the command.
  public func preceded<Ignored: Sendable, Other: Error>(
    by preparation: Command<Context, Ignored, Other>
  ) -> Command<Context, Output, MultipleFaults<Failure, Other>> {
    mapFailure { .main($0) }.preceded(by: preparation.mapFailure { .other($0) })
  }

  /// Runs `conclusion` (for example to log out or to disconnect) after the command, without other
  /// commands in between, each time the command runs, even after a failure. The command's own
  /// failure takes precedence over a failure of the conclusion.
  ///
  /// Cancelling the command does not cancel the conclusion: the conclusion runs until it ends or
  /// until `limit`.
  ///
  /// - Parameters:
  ///   - conclusion: the command that runs after this command.
  ///   - limit: the time limit of the conclusion, more than 0; after this time the conclusion is
  ///   cancelled.
  ///   - clock: the clock for the limit.
  public func followed<Ignored: Sendable>(
    by conclusion: Command<Context, Ignored, Failure>, within limit: Duration,
    on clock: any LinkClock
  ) -> Command {
    followed(by: conclusion, within: limit, measuredBy: { _ in clock })
  }

  /// Runs `conclusion`, which throws its own type of error, after the command.
  public func followed<Ignored: Sendable, Other: Error>(
    by conclusion: Command<Context, Ignored, Other>, within limit: Duration,
    on clock: any LinkClock
  ) -> Command<Context, Output, MultipleFaults<Failure, Other>> {
    mapFailure { .main($0) }
      .followed(by: conclusion.mapFailure { .other($0) }, within: limit, on: clock)
  }

  /// Runs `conclusion` after the command, with a clock that depends on the context.
  ///
  /// - Parameter clock: returns the clock for a context.
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
