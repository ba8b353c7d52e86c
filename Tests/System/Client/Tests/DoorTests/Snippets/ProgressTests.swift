import Door
import OtaflashFirmware
import OtaflashSimulation
import Synchronization
import Testing

@Test func theAppShowsProgress() throws {
  let image = FirmwareImage(
    name: "app", format: .binary, bytes: (0..<40_000).map { _ in .random(in: 0...255) },
    version: FirmwareVersion(1, 3, 0), hardware: .any)
  let shown = Mutex<[Int]>([])
  _ = try simulate { board, clock in
    try await DoorModel(board.dialer, clock: clock).update(to: image) { percent in
      shown.withLock { $0.append(percent) }
    }
  }
  let percents = shown.withLock { $0 }
  #expect(percents == percents.sorted())
  #expect(percents.last == 100)
}
