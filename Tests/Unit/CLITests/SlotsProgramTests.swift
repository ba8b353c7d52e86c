import Foundation
import Testing

/// Tests of `slots` and `reset` with the built program, on the simulated Zephyr device.
@Suite(.waitsForPrograms) struct SlotsProgramTests {
  @Test(
    arguments: [
      (["slots", "list", "-d", "sim:smp"], 0), (["slots", "confirm", "-d", "sim:smp"], 0),
      (["slots", "erase", "-d", "sim:smp?erase=0"], 0), (["reset", "-d", "sim:smp"], 0),
      // The device has no image to test, and the running image cannot be erased.
      (["slots", "test", "-d", "sim:smp"], 5),
      (["slots", "erase", "--slot", "0", "-d", "sim:smp"], 5),
      // The device does not support SMP.
      (["slots", "list", "-d", "sim:fast"], 5), (["reset", "-d", "sim:fast"], 5),
      (["slots"], 64), (["slots", "erase", "--slot", "2", "-d", "sim:smp"], 64),
      (["slots", "test", "--hash", "abc", "-d", "sim:smp"], 64),
      (["slots", "test", "--image", "16", "-d", "sim:smp"], 64),
    ] as [([String], Int32)])
  func exitCodes(_ words: [String], _ status: Int32) throws {
    let outcome = try Program().run(words)
    #expect(outcome.status == status, "\(outcome.errors)")
  }

  /// While an update waits for a silent device, commands that change the device are refused.
  /// Commands that only read connect, and fail because the device does not answer.
  @Test func oneProcessAtATimeChangesADevice() throws {
    let program = try Program()
    let path = program.home.path + "/device"
    let device = try program.start(["simulate", "--listen", path, "--profile", "silent"])
    try #require(SignalTests.waitForFile(path))
    let image = "firmware-samples/app-1.3.0.bin"
    let update = try program.start(["flash", image, "-d", "unix:" + path, "-vvv"])
    try #require(update.waitUntilItSays("ExchangeMTURequest"))
    // The device is the same, in another notation.
    let other = "unix:" + program.home.path + "/./device"
    let quick = ["--transaction-limit", "100ms", "-d", other]
    for words in [
      ["slots", "test"], ["slots", "confirm"], ["slots", "erase"], ["reset"], ["bench"],
      ["flash", image],
    ] {
      let outcome = try program.run(words + quick)
      #expect(outcome.status == 69 && outcome.code == "E-DEVICE-BUSY", "\(outcome.errors)")
    }
    for words in [["slots", "list"], ["info"]] {
      let outcome = try program.run(words + quick)
      #expect(outcome.code == "E-LINK-LOST", "\(outcome.errors)")
    }
    for process in [update, device] {
      process.send(SIGTERM)
      _ = process.end()
    }
  }

  /// The help of a refusal contains the command that lists the slots, or `info` for a device
  /// without slots.
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
    try Program.checkEvents(of: outcome)
  }

  @Test func theTableShowsTheRunningImage() throws {
    let outcome = try Program().run(["slots", "list", "-d", "sim:smp"])
    #expect(outcome.output.contains("IMAGE  SLOT  VERSION  STATE"))
    #expect(outcome.output.contains("1.2.0    runs, confirmed"))
  }
}
