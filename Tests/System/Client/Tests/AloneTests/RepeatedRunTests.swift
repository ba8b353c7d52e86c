import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate
import Testing

@Test func twoRunsTakeTheSameTime() throws {
  let image = FirmwareImage(
    name: "app", format: .binary, bytes: (0..<40_000).map { UInt8(truncatingIfNeeded: $0) },
    version: FirmwareVersion(1, 3, 0), hardware: .any)
  let times = try (1...2).map { _ in
    try simulate("sim:?loss=5%&seed=7") { board, clock in
      _ = try await FirmwareUpdate(image: image).run(on: board.dialer, clock: clock)
      return clock.now
    }
  }
  #expect(times[0] == times[1])
}
