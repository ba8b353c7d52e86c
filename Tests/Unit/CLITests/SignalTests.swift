import Foundation
import Testing

/// Tests of SIGINT and SIGTERM during an update, and of other signals.
@Suite(.waitsForPrograms) struct SignalTests {
  private static let flash = ["flash", "firmware-samples/app-1.3.0.bin", "-d", "sim:"]

  /// Returns the command after `help:`, without the path of the program.
  private static func printedCommand(_ outcome: Program.Outcome) -> [String]? {
    outcome.errors.split(separator: "\n").first { $0.hasPrefix("  help: ") }.map {
      $0.dropFirst("  help: ".count).split(separator: " ").dropFirst().map(String.init)
    }
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func aSignalStopsAtASafePointAndThePrintedCommandResumes(_ signal: Int32) throws {
    let program = try Program()
    // The device ends with the process, and has kept every write block of the image.
    let words = ["--delta", "never", "--mode", "without-response", "-vvv"]
    let run = try program.start(Self.flash + words)
    try #require(Self.isAcknowledged(run))
    let begun = ContinuousClock.now
    run.send(signal)
    let stopped = run.end()
    #expect(ContinuousClock.now - begun < .seconds(5))
    #expect(stopped.reason == .uncaughtSignal)
    #expect(stopped.status == signal)
    #expect(stopped.code == "E-INTERRUPTED", "\(stopped.errors)")
    let again = try #require(Self.printedCommand(stopped))
    #expect(Array(again.prefix(4)) == Self.flash)
    let resumed = try program.run(again.filter { $0 != "-vvv" })
    #expect(resumed.status == 0, "\(resumed.errors)")
    #expect(resumed.errors.contains("resume from "), "\(resumed.errors)")
    #expect(resumed.output.contains("running 1.3.0, verified"))
  }

  /// The device is stopped, so that the disconnection after the first signal has to wait for it.
  /// The program is stopped while both signals are sent, so that it receives them together.
  @Test func aSecondSignalEndsTheProcessImmediately() throws {
    let program = try Program()
    let device = try program.start(["simulate", "--listen", program.home.path + "/d"])
    try #require(Self.waitForFile(program.home.path + "/d"))
    let flash = ["flash", "firmware-samples/app-1.3.0.bin", "-d", "unix:\(program.home.path)/d"]
    let run = try program.start(flash + ["--mode", "without-response", "-vvv"])
    try #require(Self.isAcknowledged(run))
    for signal in [SIGSTOP, SIGINT, SIGTERM, SIGCONT] {
      if signal == SIGSTOP { device.send(signal) }
      run.send(signal)
    }
    let stopped = run.end()
    device.send(SIGCONT)
    #expect(stopped.reason == .uncaughtSignal)
    #expect(stopped.status == SIGTERM, "the second signal ended the process")
    #expect(stopped.code == nil, "\(stopped.errors)")
    let resumed = try program.run(flash)
    device.send(SIGTERM)
    _ = device.end()
    #expect(resumed.status == 0, "\(resumed.errors)")
    #expect(resumed.output.contains("running 1.3.0, verified"))
  }

  /// The signals are sent as by timeout(1), which sends the signal to its child and to the process
  /// group of the child.
  @Test func aRepeatedSignalIsIgnored() throws {
    let program = try Program()
    let run = try program.start(Self.flash + ["--mode", "without-response", "-vvv"])
    try #require(Self.isAcknowledged(run))
    // Repeated pending signals count as one.
    for _ in 0..<100 { run.send(SIGTERM) }
    let stopped = run.end()
    #expect(stopped.reason == .uncaughtSignal && stopped.status == SIGTERM)
    #expect(stopped.code == "E-INTERRUPTED", "\(stopped.errors)")
  }

  /// At this time the image is complete on the device, so no transfer is left to resume.
  @Test func aStopAfterActivationReportsTheRequestedRestart() throws {
    let program = try Program()
    let socket = program.home.path + "/d"
    let device = try program.start(["simulate", "--profile", "fast?boot=8s", "--listen", socket])
    try #require(Self.waitForFile(socket))
    let flash = ["flash", "firmware-samples/app-1.3.0.bin", "-d", "unix:\(socket)"]
    let run = try program.start(flash + ["-vvv"])
    let isReached = run.waitUntilItSays("stage reconnect")
    try #require(isReached)
    run.send(SIGTERM)
    let stopped = run.end()
    #expect(stopped.reason == .uncaughtSignal && stopped.status == SIGTERM)
    #expect(stopped.code == "E-INTERRUPTED", "\(stopped.errors)")
    #expect(stopped.errors.contains("was asked to restart into 1.3.0"), "\(stopped.errors)")
    #expect(!stopped.errors.contains("The device keeps"), "\(stopped.errors)")
    let again = try program.run(flash)
    device.send(SIGTERM)
    _ = device.end()
    #expect(again.status == 0, "\(again.errors)")
  }

  /// Tests with a user at a terminal: the cursor, the journal, and the printed command.
  @Test func controlKeysEndOrStopTheProgram() throws {
    let check = try Program.runTool(["python3", "-B", "Tests/System/Kill/ctrl-c", Program.path()])
    #expect(check.status == 0, "\(check.output)\(check.errors)")
    #expect(check.output.contains("press_once: ended by SIGINT, cursor shown, resumed from"))
    #expect(check.output.contains("press_twice: ended by SIGINT, cursor shown, resumed from"))
    #expect(check.output.contains("press_stop: ended by SIGINT, cursor shown, resumed from"))
    #expect(check.output.contains("press_quit: ended by SIGQUIT, cursor shown, resumed from"))
    #expect(check.output.contains("nothing_kept: the next run started over"))
  }

  /// A backtrace shows the contents of memory, so no signal may print a backtrace. Each signal must
  /// end the process.
  @Test(arguments: [SIGQUIT, SIGUSR1, SIGALRM, SIGXCPU])
  func everyOtherSignalEndsTheProcessImmediately(_ signal: Int32) throws {
    let program = try Program()
    let run = try program.start(["simulate", "--listen", program.home.path + "/d"])
    try #require(Self.waitForFile(program.home.path + "/d"))
    run.send(signal)
    let ended = run.end()
    #expect(ended.reason == .uncaughtSignal)
    #expect(ended.status == signal)
    #expect(ended.errors.isEmpty, "\(ended.errors)")
  }

  @Test func withJSONTheResultNamesTheSignal() throws {
    let program = try Program()
    let run = try program.start(["simulate", "--listen", program.home.path + "/d", "--json"])
    // Standard error is empty, so the socket shows whether the device listens.
    try #require(Self.waitForFile(program.home.path + "/d"))
    run.send(SIGTERM)
    let ended = run.end()
    #expect(ended.reason == .uncaughtSignal)
    #expect(ended.status == SIGTERM)
    #expect(ended.output.contains(#""exit":143"#), "\(ended.output)")
  }

  /// Waits until the window has advanced, which shows that the device's flash contains data;
  /// `false` if the program ended first.
  private static func isAcknowledged(_ run: RunningProgram) -> Bool {
    run.waitUntilItSays("→ WriteCommand", "HandleValueNotification", "→ WriteCommand")
  }

  static func waitForFile(_ path: String) -> Bool {
    for _ in 0..<1000 {
      if FileManager.default.fileExists(atPath: path) { return true }
      usleep(10_000)
    }
    return false
  }
}
