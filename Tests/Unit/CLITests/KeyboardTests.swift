import Testing

@testable import OtaflashConsole
@testable import OtaflashDevices
@testable import OtaflashProgram
@testable import otaflash

/// Tests with a user at a terminal: keys, signals, and the restored terminal.
@Suite(.waitsForPrograms) struct KeyboardTests {
  @Test(arguments: ["choose", "leave", "die", "watch", "script"])
  func aUserChoosesAndTheTerminalIsRestored(_ scene: String) throws {
    let outcome = try Program.runTool(
      ["python3", "Tests/Support/keyboard.py", Program.path(), scene],
      environment: ["DBUS_SESSION_BUS_ADDRESS": "", "TMUX": "", "TERM_PROGRAM": ""])
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  /// The terminal accepts no more output, as after a lost connection.
  @Test(arguments: ["scan", "chooser", "flash", "fleet", "complete", "asleep"])
  func aFullTerminalStopsNeitherASignalNorACampaign(_ scene: String) throws {
    let outcome = try Program.runTool(
      ["python3", "-B", "Tests/Support/full-terminal.py", Program.path(), scene])
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  @Test func aFrameReplacesThePreviousFrame() {
    var frame = FrameRenderer()
    #expect(frame.erase(columns: 80) == "" && frame.showCursor() == "")
    #expect(frame.draw(["a", "b"], columns: 80) == "\u{1B}[?25l\ra\u{1B}[K\nb\u{1B}[K\u{1B}[J")
    #expect(frame.draw(["c"], columns: 80) == "\r\u{1B}[1Ac\u{1B}[K\u{1B}[J")
    // The terminal has wrapped a line since the last frame.
    _ = frame.draw([Line(String(repeating: "x", count: 50))], columns: 80)
    #expect(frame.erase(columns: 20) == "\r\u{1B}[2A\u{1B}[J")
    #expect(frame.showCursor() == "\u{1B}[?25h" && frame.showCursor() == "")
  }

  @Test func aNotificationUsesTheUsersTerminalOrDesktop() {
    typealias Way = DesktopNotification.Way
    let desktop = ["DBUS_SESSION_BUS_ADDRESS": "unix:/bus", "WAYLAND_DISPLAY": "w"]
    let cases: [([String: String], Bool, Way)] = [
      (desktop, false, .desktop), (["SSH_TTY": "/dev/pts/1"].merging(desktop) { $1 }, true, .bell),
      ([:], false, .none), (["TERM": "dumb"], true, .none), (["TERM": "xterm"], true, .bell),
      (["TERM": "foot"], true, .notifyCommand), (["VTE_VERSION": "7"], true, .notifyCommand),
      (["TERM_PROGRAM": "iTerm.app"], true, .growlCommand),
      (["TERM": "xterm-kitty"], true, .growlCommand),
      (["TERM": "tmux-256color", "VTE_VERSION": "7"], true, .bell),
    ]
    for (environment, hasTerminal, way) in cases {
      #expect(Way(environment: environment, hasTerminal: hasTerminal) == way, "\(environment)")
    }
  }

  /// A device's name does not control the terminal, and adds no field to the sequence.
  @Test func aNotificationContainsTheOutcome() {
    let device = Ending.Device(
      id: "a;b\u{1B}", outcome: "flashed", from: "1.2.0", to: "1.3.0")
    let one = DesktopNotification(of: "flash", .done("flashed", devices: [device]))
    #expect(
      DesktopNotification.Way.notifyCommand.bytes(for: one)
        == "\u{1B}]777;notify;otaflash flash: done;a,b\\u001b: flashed (1.2.0 to 1.3.0)\u{1B}\\\u{07}"
    )
    let fleet = DesktopNotification(
      of: "fleet run",
      Ending(
        exit: .someFailed, outcome: "complete",
        devices: [device, Ending.Device(id: "c", outcome: "failed")]))
    #expect(fleet.title == "otaflash fleet run: failed" && fleet.body == "1 of 2 devices done")
  }
}
