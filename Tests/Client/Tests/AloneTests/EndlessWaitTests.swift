import OtaflashFirmware
import OtaflashSimulation
import Testing

@Test func anEndlessWaitIsAnError() {
  #expect(throws: SimulationFault.timeLimitExceeded(limit: .seconds(60))) {
    try simulate("sim:", limit: .seconds(60)) { board, clock in
      // The board never runs this version.
      while board.running.version != FirmwareVersion(9, 0, 0) {
        await clock.pause(for: .seconds(1))
      }
    }
  }
}
