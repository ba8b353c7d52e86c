import OtaflashState
import Testing

/// `slots` and `reset` of the built program, on the simulated Zephyr device.
@Suite(.waitsForPrograms) struct SlotsProgramTests {
  @Test(
    arguments: [
      (["slots", "list", "-d", "sim:smp"], 0), (["slots", "confirm", "-d", "sim:smp"], 0),
      (["slots", "erase", "-d", "sim:smp?erase=0"], 0), (["reset", "-d", "sim:smp"], 0),
      // Nothing to try, and what runs cannot be erased.
      (["slots", "test", "-d", "sim:smp"], 5),
      (["slots", "erase", "--slot", "0", "-d", "sim:smp"], 5),
      // A device without SMP.
      (["slots", "list", "-d", "sim:fast"], 5), (["reset", "-d", "sim:fast"], 5),
      (["slots"], 64), (["slots", "erase", "--slot", "2", "-d", "sim:smp"], 64),
      (["slots", "test", "--hash", "abc", "-d", "sim:smp"], 64),
      (["slots", "test", "--image", "16", "-d", "sim:smp"], 64),
    ] as [([String], Int32)])
  func exitCodes(_ words: [String], _ status: Int32) throws {
    let outcome = try Program().run(words)
    #expect(outcome.status == status, "\(outcome.errors)")
  }

  /// The test works on the device; what changes nothing may look on.
  @Test(
    arguments: [
      (["slots", "test"], true), (["slots", "confirm"], true), (["slots", "erase"], true),
      (["reset"], true), (["bench"], true), (["flash", "firmware-samples/app-1.3.0.bin"], true),
      (["slots", "list"], false), (["info"], false),
    ] as [([String], Bool)])
  func oneProcessAtATimeChangesADevice(_ words: [String], _ changes: Bool) throws {
    let program = try Program()
    let device = "unix:" + (try program.file("device", []))
    let lock = try DeviceLock(
      DeviceIdentity(path: program.home.path + "/./device", device: device))
    let outcome = try program.run(words + ["-d", device])
    lock.release()
    #expect(outcome.status == 69, "\(outcome.errors)")
    #expect((outcome.code == "E-DEVICE-BUSY") == changes, "\(outcome.errors)")
    let alone = try program.run(words + ["-d", device])
    #expect(alone.status == 69 && alone.code != "E-DEVICE-BUSY", "\(alone.errors)")
  }

  /// A device that has no slots to show is shown as it is.
  @Test(arguments: [
    ("sim:smp", "slots list -d sim:smp"), ("sim:fast", "info -d sim:fast"),
  ])
  func aRefusalPointsToTheSlots(_ device: String, _ help: String) throws {
    let outcome = try Program().run(["slots", "test", "-d", device])
    #expect(outcome.errors.contains("otaflash \(help)\n"), "\(outcome.errors)")
  }

  @Test(arguments: [
    ["slots", "list", "-d", "sim:smp"], ["slots", "test", "-d", "sim:smp"],
    ["slots", "list", "-d", "sim:smp?params=no&bootinfo=no"], ["info", "-d", "sim:smp"],
    ["reset", "-d", "sim:smp"],
  ])
  func streamsObeyTheSchema(_ words: [String]) throws {
    let outcome = try Program().run(words + ["--json"])
    let check = try Program.runTool(
      ["python3", "Tests/check-events.py", "docs/events.schema.json", "\(outcome.status)"],
      input: outcome.output)
    #expect(check.status == 0, "\(check.errors)\n\(outcome.output)")
  }

  @Test func theTableNamesWhatRuns() throws {
    let outcome = try Program().run(["slots", "list", "-d", "sim:smp"])
    #expect(outcome.output.contains("IMAGE  SLOT  VERSION  STATE"))
    #expect(outcome.output.contains("1.2.0    runs, confirmed"))
  }
}
