import OtaflashGATT

extension SimulatedBoard {
  /// - Parameters:
  ///   - profile: the kind, the settings and the faults of the device.
  ///   - storage: at least `profile.flashSize` bytes; `nil` = memory. A board with storage from an
  ///     earlier run continues from the stored state.
  ///   - clock: the clock of device and host.
  ///   - seed: replaces the seed of the profile.
  /// - Throws: the errors of the storage.
  public convenience init(
    profile: SimulationProfile, storage: (any FlashMedium)? = nil, clock: any LinkClock,
    seed: UInt64? = nil
  ) throws(FlashFault) {
    try self.init(
      profile.device, profile.settings, storage: storage, clock: clock, seed: seed)
  }
}

/// Runs `body` together with a simulated board, in virtual time that starts at zero. An update of
/// many seconds takes milliseconds, and every run with the same profile is identical.
///
/// ```swift
/// let result = try simulate("sim:smp?loss=1%") { board, clock in
///   try await FirmwareUpdate(image: image).run(on: board.dialer, clock: clock)
/// }
/// ```
///
/// - Parameters:
///   - profile: the argument of `-d` on the command line, such as `sim:nordic-dfu?seed=7`
///     (otaflash-simulate(1)).
///   - limit: the maximum virtual time of the run.
///   - body: the code of the host, which uses the board's dialer and the clock.
/// - Throws: the errors of `body`, `ProfileFault`, and `SimulationFault` for a run that hangs or
///   leaves virtual time.
public func simulate<Value: Sendable>(
  _ profile: String = "sim:", limit: Duration = .seconds(86_400),
  _ body: @escaping @Sendable (SimulatedBoard, VirtualClock) async throws -> Value
) throws -> Value {
  try simulate(boards: [SimulationProfile(parsing: profile)], limit: limit) { boards, clock in
    try await body(boards[0], clock)
  }
}

/// Runs `body` together with several boards, each with its own radio and random generator.
///
/// - Throws: the errors of `simulate(_:limit:_:)`.
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
