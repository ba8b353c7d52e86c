import Door
import OtaflashFirmware
import OtaflashSimulation
import Synchronization
import Testing

@Test func aCancelledUpdateIsResumed() throws {
  let image = FirmwareImage(
    name: "app", format: .binary, bytes: (0..<40_000).map { _ in .random(in: 0...255) },
    version: FirmwareVersion(1, 3, 0), hardware: .any)
  let percent = Mutex(0)
  let show: @Sendable (Int) -> Void = { shown in percent.withLock { $0 = shown } }
  let result = try simulate { board, clock in
    let door = DoorModel(board.dialer, clock: clock)
    await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        _ = try await door.update(to: image, reporting: show)
        Issue.record("The update was not cancelled.")
      }
      while percent.withLock({ $0 }) < 50 { await clock.pause(for: .milliseconds(10)) }
      group.cancelAll()
    }
    return try await door.update(to: image)
  }
  #expect(result.resumes == 1)
  #expect(result.bytesSent < 30_000)
}
