import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate
import Testing

@Suite struct FlashTests {
  @Test(arguments: WriteMode.allCases)
  func anImageIsSentVerifiedActivatedAndSeenRunning(_ mode: WriteMode) throws {
    let image = image(size: 40_000)
    let result = try flash(image, onto: "plain") { $0.mode = mode }
    let update = try result.outcome.get()
    #expect(update.outcome == .flashed)
    #expect(update.isVerified)
    #expect(update.from == FirmwareVersion(1, 2, 0))
    #expect(update.to == FirmwareVersion(1, 3, 0))
    #expect(update.bytesSent == 40_000)
    #expect(result.runningImage == image.bytes)
    #expect(result.flashFaults.isEmpty)
  }
}
