import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate
import Testing

/// This test needs no product except `OtaflashSimulation`.
@Test func aSimulatedBoardIsFlashed() throws {
  let image = FirmwareImage(
    name: "app", format: .binary, bytes: [UInt8](repeating: 7, count: 40_000),
    version: FirmwareVersion(1, 3, 0), hardware: .any)
  let result = try simulate("sim:?loss=2%") { board, clock in
    try await FirmwareUpdate(image: image).run(on: board.dialer, clock: clock)
  }
  #expect(result.isVerified)
}
