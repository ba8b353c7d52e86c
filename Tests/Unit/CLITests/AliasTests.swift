import Foundation
import Testing

@testable import OtaflashDevices
@testable import OtaflashProgram
@testable import otaflash

/// Tests of device aliases in the built program.
@Suite(.waitsForPrograms) struct AliasTests {
  private static let image = "firmware-samples/app-1.3.0.bin"

  @Test func anAliasReplacesTheDeviceInEveryCommand() throws {
    let program = try Program()
    #expect(try program.run(["info", "-d", "sim:fast"]).status == 0)
    let named = try program.run(["devices", "name", "last", "door-01"])
    #expect(named.status == 0 && named.output.contains("door-01  sim:fast"), "\(named.errors)")
    let dry = try program.run(["flash", Self.image, "-d", "door-01", "--dry-run"])
    #expect(dry.status == 0 && dry.errors.contains("door-01  1.2.0"), "\(dry.errors)")
    // The alias and the address stand for the same device, with one lock, one record and one flash.
    let flash = try program.run(["flash", Self.image, "-d", "door-01"])
    #expect(flash.status == 0, "\(flash.errors)")
    #expect(flash.output.contains("otaflash info -d door-01"))
    let again = try program.run(["flash", Self.image, "-d", "sim:fast"])
    #expect(again.status == 0 && again.output.contains("already"), "\(again.output)")
    let list = try program.run(["devices"])
    #expect(list.output.split(separator: "\n").count == 2, "\(list.output)")
    #expect(list.output.contains("sim:fast  door-01"), "\(list.output)")
    // bench chooses virtual time by the kind of the device, not by its alias.
    let words = ["bench", "--mtu", "247", "--mode", "without-response", "--size", "16K", "-d"]
    let measured = try program.run(words + ["door-01"])
    #expect(try measured.output == program.run(words + ["sim:fast"]).output)
  }

  @Test func campaignsAcceptAliases() throws {
    let program = try Program()
    #expect(try program.run(["devices", "name", "sim:fast", "door-01"]).status == 0)
    #expect(try program.run(["devices", "name", "sim:fast?seed=2", "door-02"]).status == 0)
    _ = try program.file("doors.csv", Array("id,site\ndoor-02,berlin\n".utf8))
    let file = try program.file(
      "c.yaml",
      Array(
        """
        campaign: doors
        image: \(Program.root.path)/\(Self.image)
        devices: [door-01]
        devices-file: doors.csv
        waves: [{devices: [door-02]}, {devices: rest}]
        """.utf8))
    let plan = try program.run(["fleet", "plan", file])
    #expect(plan.status == 0, "\(plan.errors)")
    #expect(plan.output.contains(/sim:fast\?seed=2 +door-02 +berlin/), "\(plan.output)")
    #expect(plan.output.contains(/sim:fast +door-01/), "\(plan.output)")
    #expect(try program.run(["fleet", "run", file, "--no-input"]).status == 0)
    let report = try program.run(["fleet", "report", "--csv", program.home.path + "/r.csv"])
    #expect(report.status == 0, "\(report.errors)")
    let table = try String(contentsOfFile: program.home.path + "/r.csv", encoding: .utf8)
    #expect(table.contains("sim:fast,door-01") || table.contains("sim:fast,\"door-01"), "\(table)")
    // The run accepts the former alias and the present alias of the device.
    let list = try program.run(["fleet", "list", "--json"]).output
    let run = try #require(list.firstMatch(of: /"run":"([0-9a-f]{6})"/)).1
    #expect(try program.run(["devices", "name", "sim:fast", "front"]).status == 0)
    for name in ["door-01", "front", "sim:fast"] {
      let retry = try program.run(["fleet", "retry", String(run), name])
      #expect(retry.status == (name == "door-01" ? 0 : 5), "\(name): \(retry.errors)")
      if name != "door-01" { #expect(retry.errors.contains("sim:fast has no final outcome yet")) }
    }
    let unknown = try program.run(["fleet", "retry", String(run), "door-07"])
    #expect(unknown.status == 5 && unknown.errors.contains("no device 'door-07'"))
    // door-01 does not name a device now, but named this device when the run started.
    let gone = try program.run(["fleet", "run", file])
    #expect(gone.status == 78 && gone.code == "E-CAMPAIGN", "\(gone.errors)")
    #expect(gone.errors.contains("line 3, column 11"), "\(gone.errors)")
    #expect(
      gone.errors.contains("is neither a device nor an alias; did you mean 'door-02'?"),
      "\(gone.errors)")
    #expect(try program.run(["devices", "name", "sim:smp", "door-01"]).status == 0)
    let other = try program.run(["fleet", "run", file])
    #expect(other.status == 78 && other.errors.contains(" changed after run "), "\(other.errors)")
  }

  @Test func invalidAliasesAreRefused() throws {
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
    #expect(taken.errors.contains("door-01 already names sim:fast"), "\(taken.errors)")
    #expect(taken.errors.contains("otaflash devices unname door-01 && "), "\(taken.errors)")
    let none = try program.run(["devices", "unname", "sim:fast"])
    #expect(none.errors.contains("'sim:fast' is not an alias\n"), "\(none.errors)")
    #expect(try program.run(["devices", "unname", "door-01"]).status == 0)
    #expect(try program.run(["info", "-d", "door-01"]).status == 64)
  }

  @Test func aliasesAreEventsAndCompletions() throws {
    let program = try Program()
    #expect(try program.run(["devices", "name", "sim:fast", "door-01"]).status == 0)
    let list = try program.run(["devices", "--json"])
    try Program.checkEvents(of: list)
    #expect(list.output.contains(#""alias":"door-01","device":"sim:fast""#))
    let words = DeviceWords.words(beginning: "", environment: program.environment)
    #expect(words == ["last", "sim:", "door-01"])
    #expect(
      DeviceWords.words(beginning: "do", environment: program.environment) == ["door-01"])
    // The completion request of bash, with options in the environment.
    let shell = try program.run(
      ["---completion", "info", "--", "--device", "3", "2", "otaflash", "info", "-d", "do"],
      environment: ["OTAFLASH_TIMEOUT": "3s"])
    #expect(shell.status == 0 && shell.output.contains("door-01"), "\(shell.errors)")
    // Completion creates no files.
    let empty = try Program()
    #expect(DeviceWords.words(beginning: "x", environment: empty.environment).isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: empty.home.path).isEmpty)
  }
}
