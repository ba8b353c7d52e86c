import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Testing

@Test func anUpdateIsResumedAfterItsTimeLimit() throws {
  let image = FirmwareImage(
    name: "app", format: .binary, bytes: (0..<40_000).map { _ in .random(in: 0...255) },
    version: FirmwareVersion(1, 3, 0), hardware: .any)
  let result = try simulate { board, clock in
    let update = FirmwareUpdate(image: image)
    return try await withPeripheral(board.dialer, clock: clock) { device in
      do throws(QueueFault<UpdateFault>) {
        _ = try await device.perform(update.command.timeLimit(.seconds(1)))
        Issue.record("The update was complete within a second.")
      } catch .failed(.timedOut(_, resumable: true, let acknowledged)) {
        #expect(acknowledged > 0)
      }
      return try await device.perform(update.command.timeLimit(.seconds(90)))
    }
  }
  #expect(result.isVerified && result.resumes == 1)
}
