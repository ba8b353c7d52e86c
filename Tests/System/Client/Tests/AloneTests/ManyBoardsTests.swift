import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate
import Testing

@Test func threeBoardsAreUpdatedConcurrently() throws {
  let image = FirmwareImage(
    name: "app", format: .binary, bytes: (0..<40_000).map { _ in .random(in: 0...255) },
    version: FirmwareVersion(1, 3, 0), hardware: .any)
  let profiles = try (1...3).map { try SimulationProfile(parsing: "sim:?loss=1%&seed=\($0)") }
  let results = try simulate(boards: profiles) { boards, clock in
    try await withThrowingTaskGroup(of: UpdateResult.self) { group in
      for board in boards {
        group.addTask {
          try await FirmwareUpdate(image: image).run(on: board.dialer, clock: clock)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }
  #expect(results.map(\.isVerified) == [true, true, true])
}
