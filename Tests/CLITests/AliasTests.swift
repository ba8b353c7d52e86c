import Foundation
import Testing

@testable import otaflash

/// A device under the user's name for it, in the built program.
@Suite(.waitsForPrograms) struct AliasTests {
  private static let image = "firmware-samples/app-1.3.0.bin"

  @Test func anAliasStandsForTheDeviceEverywhere() throws {
    let program = try Program()
    #expect(try program.run(["info", "-d", "sim:fast"]).status == 0)
    let named = try program.run(["devices", "name", "last", "door-01"])
    #expect(named.status == 0 && named.output.contains("door-01  sim:fast"), "\(named.errors)")
    let dry = try program.run(["flash", Self.image, "-d", "door-01", "--dry-run"])
    #expect(dry.status == 0 && dry.errors.contains("door-01  1.2.0"), "\(dry.errors)")
    // It is the same device, with one lock, one record and one flash.
    let flash = try program.run(["flash", Self.image, "-d", "door-01"])
    #expect(flash.status == 0, "\(flash.errors)")
    #expect(flash.output.contains("otaflash info -d door-01"))
    let again = try program.run(["flash", Self.image, "-d", "sim:fast"])
    #expect(again.status == 0 && again.output.contains("already"), "\(again.output)")
    let list = try program.run(["devices"])
    #expect(list.output.split(separator: "\n").count == 2, "\(list.output)")
    #expect(list.output.contains("sim:fast  door-01"), "\(list.output)")
    // bench takes its measuring in virtual time by the device, not by its name.
    let words = ["bench", "--mtu", "247", "--mode", "without-response", "--size", "16K", "-d"]
    let measured = try program.run(words + ["door-01"])
    #expect(try measured.output == program.run(words + ["sim:fast"]).output)
  }

  @Test func whatIsNoAliasIsRefused() throws {
    let program = try Program()
    #expect(try program.run(["devices", "name", "sim:fast", "door-01"]).status == 0)
    for words in [
      ["devices", "name", "sim:smp", "last"], ["devices", "name", "sim:smp", "sim:x"],
      ["devices", "name", "name:door", "door-02"], ["devices", "unname", "door-02"],
      ["info", "-d", "door-02"], ["unpair", "-d", "door-01"],
      ["info", "-d", "door-01", "--interval", "15ms"],
    ] {
      let outcome = try program.run(words)
      #expect(outcome.status == 64 && outcome.code == "E-USAGE", "\(words): \(outcome.errors)")
    }
    #expect(try program.run(["info", "-d", "door-02"]).errors.contains("did you mean 'door-01'?"))
    let taken = try program.run(["devices", "name", "sim:smp", "door-01"])
    #expect(taken.errors.contains("door-01 is sim:fast already"), "\(taken.errors)")
    #expect(taken.errors.contains("otaflash devices unname door-01 && "), "\(taken.errors)")
    #expect(try program.run(["devices", "unname", "door-01"]).status == 0)
    #expect(try program.run(["info", "-d", "door-01"]).status == 64)
  }

  @Test func programsAndShellsReadThem() throws {
    let program = try Program()
    #expect(try program.run(["devices", "name", "sim:fast", "door-01"]).status == 0)
    let list = try program.run(["devices", "--json"])
    let check = try Program.runTool(
      ["python3", "Tests/check-events.py", "docs/events.schema.json", "0"], input: list.output)
    #expect(check.status == 0, "\(check.errors)")
    #expect(list.output.contains(#""alias":"door-01","device":"sim:fast""#))
    let words = DeviceWords.words(beginning: "", environment: program.environment)
    #expect(words == ["last", "sim:", "door-01"])
    #expect(
      DeviceWords.words(beginning: "do", environment: program.environment) == ["door-01"])
    // As bash asks it, with options in the environment.
    let shell = try program.run(
      ["---completion", "info", "--", "--device", "3", "2", "otaflash", "info", "-d", "do"],
      environment: ["OTAFLASH_TIMEOUT": "3s"])
    #expect(shell.status == 0 && shell.output.contains("door-01"), "\(shell.errors)")
    // A shell that completes a word makes nothing.
    let empty = try Program()
    #expect(DeviceWords.words(beginning: "x", environment: empty.environment).isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: empty.home.path).isEmpty)
  }
}
