extension Command where Context == PeripheralTurn, Failure == PeripheralFault {
  /// Creates a command that runs `body` on a peripheral's connection. Connects first if there is no
  /// connection.
  public init(
    onConnection name: String,
    _ body: @escaping @Sendable (GATTClient) async throws(GATTFault) -> Output
  ) {
    self.init(name) { (turn) async throws(PeripheralFault) -> Output in
      let client: GATTClient
      do throws(ConnectFault) { client = try await turn.connect() } catch { throw .connect(error) }
      do throws(GATTFault) { return try await body(client) } catch { throw .gatt(error) }
    }
  }
}

extension Command where Context == PeripheralTurn, Failure == any Error {
  /// Creates a command whose `body` may throw any error. Errors of `body` are rethrown unchanged;
  /// errors of the connection are thrown as `PeripheralFault`.
  public init(
    onConnection name: String, _ body: @escaping @Sendable (GATTClient) async throws -> Output
  ) {
    self.init(name) { (turn) async throws(any Error) -> Output in
      let client: GATTClient
      do throws(ConnectFault) { client = try await turn.connect() } catch {
        throw PeripheralFault.connect(error)
      }
      do { return try await body(client) } catch let fault as GATTFault {
        throw PeripheralFault.gatt(fault)
      }
    }
  }
}

extension Command where Context == PeripheralTurn {
  /// Limits the command to `duration`, on the peripheral's clock.
  public func timeLimit(_ duration: Duration, orThrow timeout: Failure) -> Command {
    Command(name) { [self] (turn) async throws(Failure) -> Output in
      try await run(with: turn, within: duration, on: turn.clock, turning: { _ in timeout })
    }
  }
}

extension Command where Context == PeripheralTurn, Failure: TimeLimitedFault {
  /// Limits the command to `duration`, on the peripheral's clock. The failure contains the progress
  /// of the command.
  public func timeLimit(_ duration: Duration) -> Command {
    Command(name) { [self] (turn) async throws(Failure) -> Output in
      try await run(
        with: turn, within: duration, on: turn.clock, turning: { $0.ended(by: duration) })
    }
  }
}

extension Command where Context == PeripheralTurn {
  /// Same as `followed(by:within:on:)`, on the peripheral's clock.
  public func followed<Ignored: Sendable>(
    by conclusion: Command<PeripheralTurn, Ignored, Failure>,
    within limit: Duration = PeripheralTurn.conclusionLimitDefault
  ) -> Command {
    followed(by: conclusion, within: limit, measuredBy: { $0.clock })
  }

  /// Same as `followed(by:within:on:)`, on the peripheral's clock, for a conclusion that throws its
  /// own type of error.
  public func followed<Ignored: Sendable, Other: Error>(
    by conclusion: Command<PeripheralTurn, Ignored, Other>,
    within limit: Duration = PeripheralTurn.conclusionLimitDefault
  ) -> Command<PeripheralTurn, Output, MultipleFaults<Failure, Other>> {
    mapFailure { .main($0) }
      .followed(by: conclusion.mapFailure { .other($0) }, within: limit)
  }
}

extension CommandPerformer where Context == PeripheralTurn {
  /// Same as `followed(by:within:on:)`, on the peripheral's clock.
  public func followed<Ignored, Failure>(
    by conclusion: Command<PeripheralTurn, Ignored, Failure>,
    within limit: Duration = PeripheralTurn.conclusionLimitDefault
  ) -> DecoratedPerformer<PeripheralTurn> {
    decorated(by: ConclusionDecorator<PeripheralTurn>(conclusion, within: limit) { $0.clock })
  }
}
