import Door
import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate
import Testing

@Test func theAppUpdatesADoorWhoseLinkIsLost() throws {
  let image = FirmwareImage(
    name: "app", format: .binary, bytes: (0..<40_000).map { _ in .random(in: 0...255) },
    version: FirmwareVersion(1, 3, 0), hardware: .any)
  let result = try simulate("sim:?loss=2%&cut-after=1s") { board, clock in
    let door = DoorModel(board.dialer, clock: clock)
    return try await door.update(to: image)
  }
  #expect(result.isVerified && result.resumes == 1)
}
