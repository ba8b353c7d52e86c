import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate
import Testing

@Test func aSignedImageIsSentToADeviceWithMCUboot() throws {
  let file = SampleImage.mcuboot(
    [UInt8](repeating: 7, count: 30_000), version: FirmwareVersion(1, 3, 0))
  let package = try FirmwarePackage.decode(name: "app.signed.bin", bytes: file)
  let result = try simulate("sim:smp?loss=1%") { board, clock in
    let result = try await FirmwareUpdate(package: package).run(on: board.dialer, clock: clock)
    #expect(try board.runningImage().starts(with: file))
    return result
  }
  #expect(result.proof == .readBack)
}
