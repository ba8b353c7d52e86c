import OtaflashFirmware
import OtaflashFleet
import OtaflashUpdate
import Testing

@testable import OtaflashConsole
@testable import OtaflashFleetHost

/// Tests of the display of a run.
@Suite struct FleetScreenTests {
  private static let style = Style(color: false, unicode: true)

  /// Returns a run with the given number of devices, each with an update in progress.
  private static func busy(_ count: Int) -> (run: FleetRun, events: [FleetEvent]) {
    let devices = (1...count).map {
      RunDevice(id: "C0:FF:EE:00:00:\($0)", name: "door-\($0)", image: "i")
    }
    var events: [FleetEvent] = [
      .runBegan(
        RunBeginning(id: "r", campaign: "doors", digest: "d", devices: count, waves: 1)),
      .wavePlanned(wave: 0, name: "all", devices: devices), .waveBegan(wave: 0),
    ]
    for device in devices {
      events += [
        .devicePublished(device: device.id, attempt: 1, verifyFirst: false),
        .deviceClaimed(device: device.id, attempt: 1, worker: "local"),
        .devicePlaced(device: device.id, attempt: 1, adapter: "hci0"),
      ]
    }
    var run = FleetRun()
    for event in events { run.apply(event, at: WallClockTime(milliseconds: 0)) }
    return (run, events)
  }

  private static func screen(_ count: Int, tellsSuccesses: Bool = false) -> (FleetScreen, FleetRun)
  {
    let (run, events) = busy(count)
    var screen = FleetScreen(style: style, tellsSuccesses: tellsSuccesses, soaks: [.zero])
    _ = screen.observe(events, run, at: .zero)
    for device in run.devices {
      screen.observe(
        .transferBegan(offset: 0, total: 200_000, resumed: false), of: device.device.id, at: .zero)
      screen.observe(
        .progress(acknowledged: 90_000, total: 200_000), of: device.device.id, at: .seconds(3))
    }
    return (screen, run)
  }

  @Test(arguments: [1, 3, 40, 1000], [(24, 80), (10, 40), (3, 20), (2, 10), (60, 200)])
  func theBlockFitsTheTerminal(_ count: Int, _ size: (rows: Int, columns: Int)) {
    var (screen, _) = Self.screen(count)
    let block = screen.block(rows: size.rows, columns: size.columns, at: .seconds(3))
    #expect(block.count < size.rows)
    for line in block { #expect(line.text.count < size.columns, "\(line.text)") }
  }

  @Test func theBlockHasALineForEachDeviceAndASummary() {
    var (screen, _) = Self.screen(2)
    _ = screen.block(rows: 24, columns: 80, at: .seconds(1))
    let block = screen.block(rows: 24, columns: 80, at: .seconds(3))
    #expect(
      block.map(\.text) == [
        "  door-1  ━━━━━━━━━╸──────────  45%    30.0 kB/s  hci0",
        "  door-2  ━━━━━━━━━╸──────────  45%    30.0 kB/s  hci0",
        "0/2 done",
      ])
  }

  /// No number is cut: parts that do not fit are omitted.
  @Test(arguments: [(56, true, true), (45, true, true), (40, true, false), (30, false, false)])
  func theLinesOfANarrowTerminalAreComplete(_ columns: Int, _ rate: Bool, _ adapter: Bool) {
    var (screen, _) = Self.screen(1)
    _ = screen.block(rows: 24, columns: columns, at: .seconds(1))
    let line = screen.block(rows: 24, columns: columns, at: .seconds(3))[0].text
    #expect(line.count < columns && line.contains(" 45%"), "\(line)")
    #expect(line.contains("30.0 kB/s") == rate && line.contains("hci0") == adapter, "\(line)")
  }

  @Test func devicesThatDoNotFitAreCounted() {
    var (screen, _) = Self.screen(40)
    let block = screen.block(rows: 24, columns: 80, at: .seconds(3))
    #expect(block.count == 23)
    #expect(block[21].text == "  … and 19 more")
  }

  @Test func aDeviceThatFailsLeavesALineAndTheBlock() {
    var (screen, run) = Self.screen(2)
    let failure = AttemptFailure(.device, code: "reverted", words: "the device took the image back")
    let events: [FleetEvent] = [
      .attemptEnded(device: "C0:FF:EE:00:00:1", attempt: 1, ending: .failed(failure)),
      .deviceSettled(device: "C0:FF:EE:00:00:1", ending: .failed(failure)),
    ]
    for event in events { run.apply(event, at: WallClockTime(milliseconds: 9)) }
    let lines = screen.observe(events, run, at: .seconds(4))
    #expect(lines.map(\.text) == ["  failed door-1: the device took the image back"])
    let block = screen.block(rows: 24, columns: 80, at: .seconds(4))
    #expect(block.count == 2)
    #expect(block.last?.text.hasPrefix("1/2 done  1 failed") == true, "\(block)")
  }

  @Test func aWaitIsShownAfterTwoPolls() {
    let (run, _) = Self.busy(1)
    var waiting = run
    let noon = WallClockTime(milliseconds: 43_200_000)
    let device = "C0:FF:EE:00:00:1"
    waiting.apply(
      .attemptEnded(device: device, attempt: 1, ending: .returned(.recalled)), at: noon)
    waiting.apply(.deviceDeferred(device: device, until: noon), at: noon)
    var screen = FleetScreen(style: Self.style, tellsSuccesses: false, soaks: [.zero])
    _ = screen.observe([], waiting, at: .zero)
    let windows = TransferWindows(general: TransferWindow(opens: 1200, closes: 1260))
    func block() -> [String] {
      var copy = screen
      return copy.block(rows: 24, columns: 90, at: .zero).map(\.text)
    }
    #expect(screen.look(at: noon, windows).isEmpty)
    #expect(block() == ["0/1 done"])
    let new = screen.look(at: noon.advanced(by: .seconds(1)), windows)
    #expect(new.map(\.devices) == [1])
    #expect(
      screen.members(of: new[0]).map(\.name) == ["run", "reason", "until", "devices", "words"])
    #expect(
      block() == [
        "  waiting: the window opens 20:00 UTC, in 8 h (1 device waits)", "0/1 done",
      ])
    #expect(screen.look(at: noon.advanced(by: .seconds(2)), windows).isEmpty, "reported once")
    #expect(screen.look(at: noon.advanced(by: .seconds(30_000)), windows).isEmpty)
    #expect(block() == ["0/1 done"])
  }

  /// A device's name cannot control the terminal.
  @Test func aHostileNameIsEscaped() {
    let line = Line("a\u{1B}[2Jb\u{202E}c").clipped(to: 10, in: Self.style)
    #expect(!line.shown.contains("\u{1B}"))
    #expect(line.text.count <= 10)
  }
}
