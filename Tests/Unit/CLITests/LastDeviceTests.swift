import Testing

@testable import OtaflashDevices
@testable import OtaflashProgram
@testable import otaflash

/// Tests of `-d last` with the built program.
@Suite(.waitsForPrograms) struct LastDeviceTests {
  @Test func lastIsTheLastConnectedDevice() throws {
    let program = try Program()
    for device in ["sim:fast?seed=3", "sim:smp"] {
      let outcome = try program.run(["info", "-d", device])
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
    let info = try program.run(["info", "-d", "last"])
    #expect(info.status == 0 && info.output.contains("smp"), "\(info.errors)")
    #expect(info.errors.contains("the last device is sim:smp\n"))
    let slots = try program.run(["slots", "list", "--device=last"])
    #expect(slots.status == 0 && slots.output.contains("1.2.0"), "\(slots.errors)")
    let other = try program.run(["info", "-d", "sim:fast?seed=3"])
    #expect(other.status == 0)
    let flash = try program.run(
      ["flash", "firmware-samples/app-1.3.0.bin", "-d", "last", "--dry-run", "--json"])
    #expect(flash.status == 0, "\(flash.errors)\(flash.output)")
    #expect(flash.output.contains("would-flash"))
    #expect(flash.output.contains(#""id":"sim:fast?seed=3""#))
  }

  /// The measurement runs in virtual time, as with an explicit device.
  @Test func benchMeasuresTheLastDevice() throws {
    let program = try Program()
    #expect(try program.run(["info", "-d", "sim:fast"]).status == 0)
    let words = ["bench", "--mtu", "247", "--mode", "without-response", "--size", "16K"]
    let named = try program.run(words + ["-d", "sim:fast"])
    let last = try program.run(words + ["-d", "last"])
    #expect(last.status == 0 && last.output == named.output, "\(last.errors)")
  }

  @Test(arguments: [
    ["info", "-d", "last"], ["flash", "firmware-samples/app-1.3.0.bin", "-d", "last"],
    ["bench", "-d", "last"], ["reset", "-d", "last"],
  ])
  func withoutALastDeviceTheErrorIsClear(_ words: [String]) throws {
    let outcome = try Program().run(words)
    #expect(outcome.status == 69 && outcome.code == "E-DEVICE-NOT-FOUND", "\(outcome.errors)")
    #expect(outcome.errors.contains("there is no last device"))
    #expect(outcome.errors.contains("otaflash scan\n"))
  }

  /// A printed command contains the device itself, because another device may be the last one
  /// later.
  @Test func printedCommandsNameTheDevice() throws {
    let program = try Program()
    #expect(try program.run(["info", "-d", "sim:smp"]).status == 0)
    let outcome = try program.run(
      ["flash", "firmware-samples/app-1.3.0.bin", "-d", "last", "--restart"])
    #expect(outcome.status == 5 && outcome.errors.contains("help: "), "\(outcome.errors)")
    #expect(!outcome.errors.contains("-d last"), "\(outcome.errors)")
    let words = DeviceLookup.words(
      ["flash", "last", "-d", "last", "--device=last", "-q"], naming: "sim:smp")
    #expect(words == ["flash", "last", "-d", "sim:smp", "--device=sim:smp", "-q"])
  }

  /// A simulated device has no radio to tune. The program can determine that the device is
  /// simulated only after it has resolved `last`.
  @Test func linkOptionsOfASimulatedDeviceAreRefused() throws {
    let program = try Program()
    #expect(try program.run(["info", "-d", "sim:fast"]).status == 0)
    let outcome = try program.run(["info", "-d", "last", "--interval", "15ms"])
    #expect(outcome.status == 64, "\(outcome.errors)")
  }
}
