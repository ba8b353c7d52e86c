import OtaflashFirmware
import OtaflashSwarm
import OtaflashUpdate
import Testing

@testable import OtaflashSimulation

/// Tests that a simulated board is released after its update: a program of the board that keeps
/// itself would keep the flash of every board of a sweep.
@Suite struct BoardLifetimeTests {
  @Test func everyKindOfBoardIsReleasedAfterItsUpdate() throws {
    let samples = try KindSamples.scenarios().map(\.profile)
    let profiles = ["", "?log=100ms", "?patch-level=2"] + samples
    #expect(profiles.count > 20)
    for profile in profiles {
      #expect(try Self.flashAfterUpdate(of: profile) == nil, "\(profile)")
    }
  }

  /// Returns the flash of a board that was updated and has no further use; `nil` if released.
  private static func flashAfterUpdate(of profile: String) throws -> SimulatedFlash? {
    weak var flash: SimulatedFlash?
    do {
      let timeline = VirtualTimeline()
      let board = try SimulatedBoard(
        profile: SimulationProfile(parsing: profile), clock: timeline.clock)
      flash = board.flash
      let update = FirmwareUpdate(image: try .drawn(for: profile, size: 1000))
      try timeline.run(limit: .seconds(3600)) { clock in
        await board.powered { _ = try? await update.run(on: board.dialer, clock: clock) }
      }
    }
    return flash
  }
}
