import OtaflashGATT

extension SimulatedBoard {
  /// The way to the board for whatever takes a dialer. It follows the board to the address of its
  /// boot loader.
  public var dialer: Dialer {
    Dialer(at: { (place) async throws(ConnectFault) -> any Link in try await self.dial(at: place) })
  }

  /// Gives the board power until `body` has ended, however it ended. Cancelling reaches `body`
  /// alone: the board must still be there when `body` says goodbye to it.
  ///
  /// - Throws: what `body` throws.
  public func powered<Value: Sendable, Failure: Error>(
    while body: @escaping @Sendable () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await withService({ await self.run() }, body)
  }
}

/// Runs `body` beside a simulated board, in virtual time that starts at zero: an update of many
/// seconds takes milliseconds, and every run with the same profile is the same.
///
/// ```swift
/// let result = try simulate("sim:smp?loss=1%") { board, clock in
///   try await FirmwareUpdate(image: image).run(on: board.dialer, clock: clock)
/// }
/// ```
///
/// - Parameters:
///   - profile: what stands behind `-d` on the command line, such as `sim:nordic-dfu?seed=7`
///     (otaflash-simulate(1)).
///   - limit: the virtual time that the run may take.
///   - body: the host's side: code that takes a dialer and a clock.
/// - Throws: what `body` throws, `ProfileFault`, and `SimulationFault` for a run that hangs.
public func simulate<Value: Sendable>(
  _ profile: String = "sim:", limit: Duration = .seconds(86_400),
  _ body: @escaping @Sendable (SimulatedBoard, VirtualClock) async throws -> Value
) throws -> Value {
  try simulate(boards: [SimulationProfile(parsing: profile)], limit: limit) { boards, clock in
    try await body(boards[0], clock)
  }
}

/// Runs `body` beside several boards, each with its own radio and its own luck.
///
/// - Throws: as `simulate(_:limit:_:)` does.
public func simulate<Value: Sendable>(
  boards profiles: [SimulationProfile], limit: Duration = .seconds(86_400),
  _ body: @escaping @Sendable ([SimulatedBoard], VirtualClock) async throws -> Value
) throws -> Value {
  let timeline = VirtualTimeline()
  let boards = try profiles.map { try SimulatedBoard(profile: $0, clock: timeline.clock) }
  let result = try timeline.run(limit: limit) { clock -> Result<Value, any Error> in
    await withPower(to: boards) {
      do { return .success(try await body(boards, clock)) } catch { return .failure(error) }
    }
  }
  return try result.get()
}

private func withPower<Value: Sendable>(
  to boards: [SimulatedBoard], _ body: @escaping @Sendable () async -> Value
) async -> Value {
  await withService {
    await withDiscardingTaskGroup { group in
      for board in boards { group.addTask { await board.run() } }
    }
  } _: {
    await body()
  }
}
