import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate

/// Runs operations with a simulated device in virtual time.
enum VirtualRun {
  /// - Parameters:
  ///   - storage: the content of the flash; `nil` = a new device.
  ///   - ending: receives the board after the operation.
  static func of<Value: Sendable>(
    _ profile: SimulationProfile, storage: FlashMemory? = nil,
    ending: @escaping @Sendable (SimulatedBoard) -> Void = { _ in },
    _ body: @escaping @Sendable (Dialer, VirtualClock) async throws(UpdateFault) -> Value
  ) throws -> Value {
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(profile: profile, storage: storage, clock: timeline.clock)
    let result = try timeline.run { clock -> Result<Value, UpdateFault> in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await board.run() }
        defer { group.cancelAll() }
        let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
          try await board.dial(at: place)
        })
        do throws(UpdateFault) { return .success(try await body(dialer, clock)) } catch {
          return .failure(error)
        }
      }
    }
    ending(board)
    return try result.get()
  }
}
