import Testing

@testable import OtaflashDevices
@testable import OtaflashProgram
@testable import otaflash

@Suite struct SimulatedDeviceTests {
  /// Two profiles that differ only after the two hundredth character are two devices.
  @Test func longProfilesDoNotShareAFlashFile() {
    let start = "sim:?" + String(repeating: "errors=1&", count: 30)
    let names = (1...3).map { SimulatedDevice.fileName(start + "seed=\($0)") }
    #expect(Set(names).count == 3)
    #expect(names.allSatisfy { $0.utf8.count <= 220 })
    #expect(SimulatedDevice.fileName("sim:fast") == "fast")
  }

  /// At first the device's flash exceeds the file size limit. Later the flash is created without
  /// the limit, although the incomplete file exists.
  @Test func aDeviceIsCreatedAfterSpaceWasFreed() throws {
    let program = try Program()
    let words = ["info", "-d", "sim:fast"]
    let outcome = try Program.runTool(
      ["sh", "-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"", Program.path()] + words,
      environment: program.environment)
    #expect(outcome.status != 0 && outcome.code == "E-STATE", "\(outcome.errors)")
    let later = try program.run(words)
    #expect(later.status == 0, "\(later.errors)")
  }

  /// A simulated device with a new random address at each start is found by its name.
  @Test func aNamedDeviceIsFoundUnderItsNewAddress() throws {
    let program = try Program()
    let outcome = try program.run(
      [
        "flash", "Tests/Unit/FirmwareTests/Fixtures/MCUboot/unsigned.bin", "-d", "name:node",
        "--adapter", "sim:8", "--timeout", "1s", "--allow-downgrade",
      ])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("done"), "\(outcome.output)")
  }
}
