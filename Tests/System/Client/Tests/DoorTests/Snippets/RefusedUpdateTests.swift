import Door
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Testing

@Test func anOlderVersionIsRefused() throws {
  let old = FirmwareImage(
    name: "old", format: .binary, bytes: [1, 2, 3, 4], version: FirmwareVersion(1, 0, 0),
    hardware: .any)
  try simulate { board, clock in
    do throws(QueueFault<UpdateFault>) {
      _ = try await DoorModel(board.dialer, clock: clock).update(to: old)
      Issue.record("The board accepted an older version.")
    } catch .failed(.downgrade(let running, let image)) {
      #expect(running > image)
    }
    #expect(board.counters.dataBytes == 0)
  }
}
