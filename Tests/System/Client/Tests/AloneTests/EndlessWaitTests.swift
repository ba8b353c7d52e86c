import OtaflashFirmware
import OtaflashSimulation
import Testing

@Test func anEndlessWaitIsAnError() {
  #expect(throws: SimulationFault.timeLimitExceeded(limit: .seconds(60))) {
    try simulate("sim:", limit: .seconds(60)) { board, clock in
      // The board never runs this version.
      let expected = FirmwareVersion(9, 0, 0)
      while board.running.version != expected, await clock.pause(for: .seconds(1)) {}
    }
  }
}
