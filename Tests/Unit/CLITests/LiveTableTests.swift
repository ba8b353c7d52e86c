import OtaflashATT
import OtaflashFirmware
import Testing

@testable import OtaflashConsole
@testable import OtaflashDevices
@testable import OtaflashProgram
@testable import otaflash

/// Tests of the live table of devices as a value, whose input is advertisements and keys, and whose
/// output is lines and choices.
@Suite struct LiveTableTests {
  private static let style = Style(color: false, unicode: true)
  private static let ota = "2f3e0001-21b4-4807-8bdc-74db56699529"

  private static func device(
    _ id: String, _ rssi: Int, name: String? = nil, services: [String] = []
  ) -> ScanResult {
    ScanResult(
      simulated: id, name: name, rssi: rssi, services: services.compactMap { BluetoothUUID($0) })
  }

  private static let fit = ImageFit(
    FirmwarePackage(
      name: "app.bin", kind: .raw,
      parts: [
        FirmwareImage(
          name: "app.bin", format: .binary, bytes: [1, 2, 3], version: nil, hardware: nil)
      ]))

  private static func table(_ devices: [ScanResult], isChoice: Bool = true) -> LiveTable {
    var table = LiveTable(fit: fit, isChoice: isChoice)
    for device in devices { table.discovered(device, at: .zero) }
    for second in 0...2 { table.settle(at: .seconds(second)) }
    return table
  }

  // MARK: Order

  @Test func fittingDevicesAreFirstThenTheStrongest() {
    let table = Self.table([
      Self.device("far", -90, services: [Self.ota]), Self.device("lamp", -40, services: ["FE59"]),
      Self.device("near", -50, services: [Self.ota]), Self.device("mute", -30),
    ])
    #expect(table.rows.map(\.id) == ["near", "far", "mute", "lamp"])
    #expect(table.rows.map(\.verdict) == [.fits, .fits, .unknown, .other])
  }

  /// Signal strength varies by some dB all the time. The order of the rows must change only for a
  /// larger difference.
  @Test func rowsChangePlacesOnlyForMoreThanNoise() {
    var table = Self.table([Self.device("a", -60), Self.device("b", -63)])
    for step in 1...50 {
      table.discovered(Self.device("a", -60 - (step % 2) * 4), at: .seconds(2 + step))
      table.discovered(Self.device("b", -61 + (step % 3)), at: .seconds(2 + step))
      table.settle(at: .seconds(2 + step))
      #expect(table.rows.map(\.id) == ["a", "b"])
    }
    for step in 1...30 {
      table.discovered(Self.device("b", -40), at: .seconds(60 + step))
      table.settle(at: .seconds(60 + step))
    }
    #expect(table.rows.map(\.id).first == "b")
  }

  @Test func absentDevicesAreRemovedExceptTheSelectedOne() {
    var table = Self.table([Self.device("a", -60), Self.device("b", -70)])
    table.settle(at: .seconds(59))
    #expect(table.rows.count == 2)
    table.settle(at: .seconds(100))
    #expect(table.rows.map(\.id) == ["a"] && table.selected == "a")
  }

  // MARK: Choice

  /// Enter uses the device that was selected on the screen, so that no other device is flashed.
  @Test func enterUsesTheSelectedDeviceAfterItsRowMoved() {
    var table = Self.table([Self.device("a", -60), Self.device("b", -70)])
    #expect(table.press(.down) == .goesOn && table.selected == "b")
    for step in 3...40 {
      table.discovered(Self.device("b", -40), at: .seconds(step))
      table.discovered(Self.device("new", -30), at: .seconds(step))
      table.settle(at: .seconds(step))
    }
    #expect(table.rows.map(\.id) == ["new", "b", "a"])
    #expect(table.press(.enter) == .chosen("b"))
  }

  @Test func theSelectionWaitsForTheFirstScan() {
    var table = LiveTable(fit: Self.fit, isChoice: true)
    table.settle(at: .zero)
    table.discovered(Self.device("a", -80), at: .milliseconds(100))
    #expect(table.press(.enter) == .goesOn && table.selected == nil)
    table.discovered(Self.device("b", -50), at: .milliseconds(200))
    table.settle(at: .seconds(1))
    #expect(table.selected == "b")
  }

  @Test func theLastChoiceIsOfferedFirst() {
    var table = LiveTable(fit: Self.fit, isChoice: true, preferred: ("old", "door"))
    table.settle(at: .zero)
    table.discovered(Self.device("strong", -30), at: .zero)
    table.settle(at: .seconds(2))
    #expect(table.selected == "old" && table.rows.map(\.id) == ["strong", "old"])
    table.discovered(Self.device("old", -20), at: .seconds(3))
    #expect(table.rows.map(\.id) == ["old", "strong"] && table.press(.enter) == .chosen("old"))
  }

  /// A device that does not support the image is neither selected automatically nor chosen.
  @Test func aDeviceThatTheImageDoesNotFitCannotBeChosen() {
    var table = LiveTable(fit: Self.fit, isChoice: true, preferred: ("lamp", "lamp"))
    table.settle(at: .zero)
    table.discovered(Self.device("lamp", -30, services: ["FE59"]), at: .zero)
    #expect(table.selected == nil)
    table.settle(at: .seconds(2))
    #expect(table.selected == nil)
    table.discovered(Self.device("mute", -60), at: .seconds(3))
    table.settle(at: .seconds(4))
    #expect(table.selected == "mute")
    #expect(table.press(.down) == .goesOn && table.selected == "lamp")
    #expect(table.press(.enter) == .goesOn && table.selected == "lamp")
    #expect(table.press(.up) == .goesOn && table.press(.enter) == .chosen("mute"))
  }

  @Test func keysMoveWithinTheTable() {
    var table = Self.table((1...30).map { Self.device("d\($0)", -30 - $0) })
    _ = table.lines(rows: 14, columns: 80, at: .seconds(2), in: Self.style)
    let moves: [(Key, String)] = [
      (.down, "d2"), (.up, "d1"), (.up, "d1"), (.last, "d30"), (.down, "d30"), (.first, "d1"),
      (.character("7"), "d7"), (.pageDown, "d17"), (.pageUp, "d7"), (.other, "d7"),
      (.character("j"), "d8"), (.character("k"), "d7"), (.character("G"), "d30"),
    ]
    for (key, selected) in moves {
      #expect(table.press(key) == .goesOn)
      #expect(table.selected == selected, "\(key)")
    }
    #expect(table.press(.leave) == .left)
    // In a table without a choice, no row is selected.
    var plain = Self.table([Self.device("a", -60)], isChoice: false)
    #expect(plain.press(.enter) == .goesOn && plain.press(.down) == .goesOn)
    #expect(plain.selected == nil)
  }

  /// Typed text filters the rows by name, alias and address. A filter that starts with a command
  /// key, such as `j`, is typed after a slash.
  @Test func typedTextFiltersTheRows() {
    var table = Self.table([
      Self.device("A1", -40, name: "lamp", services: ["FE59"]),
      Self.device("B2", -50, name: "Door-01"), Self.device("C3", -60, name: "door-02"),
    ])
    func type(_ text: String) { for character in text { _ = table.press(.character(character)) } }
    type("do")
    #expect(table.visible.map(\.id) == ["B2", "C3"] && table.selected == "B2")
    let shown = table.lines(rows: 10, columns: 80, at: .seconds(2), in: Self.style).map(\.text)
    #expect(shown.last == "  filter: do   2 of 3 devices   Esc clears the filter")
    #expect(!shown.contains { $0.contains("lamp") })
    // Digits, q and j belong to the text while a filter is typed.
    type("or-02")
    #expect(table.visible.map(\.id) == ["C3"] && table.press(.enter) == .chosen("C3"))
    type("q")
    #expect(table.visible.isEmpty && table.selected == nil && table.press(.enter) == .goesOn)
    #expect(table.press(.erase) == .goesOn && table.selected == "C3")
    #expect(table.press(.escape) == .goesOn && table.visible.count == 3 && table.filter == nil)
    type("/j")
    #expect(table.filter == "j" && table.visible.isEmpty)
    for _ in 0..<2 { _ = table.press(.erase) }
    #expect(table.filter == nil && table.press(.escape) == .left)
    #expect(table.press(.character("q")) == .left)
  }

  // MARK: Lines

  /// Lines must fit into a terminal of any size.
  @Test func linesFitEveryTerminalSize() {
    let devices = (1...40).map { number in
      Self.device(
        "C0:FF:EE:00:00:\(number + 10)", -40 - number,
        name: number.isMultiple(of: 3) ? "温度計📱温度計📱温度計📱温度計" : "sensor-\(number)\u{1B}[2J",
        services: [Self.ota])
    }
    for isChoice in [true, false] {
      var table = Self.table(devices, isChoice: isChoice)
      for unicode in [true, false] {
        let style = Style(color: false, unicode: unicode)
        for (rows, columns) in [(24, 80), (10, 60), (5, 40), (3, 20), (2, 10), (1, 1), (60, 200)] {
          let lines = table.lines(rows: rows, columns: columns, at: .seconds(2), in: style)
          #expect(lines.count <= max(rows - 1, 1), "\(rows)x\(columns)")
          // The shortest line is an ellipsis.
          let room = max(columns - 1, style.ellipsis.count)
          #expect(lines.allSatisfy { $0.columns <= room }, "\(rows)x\(columns)")
          #expect(lines.allSatisfy { !$0.shown.contains("\u{1B}[2J") })
        }
      }
    }
  }

  @Test func aWideTerminalShowsAll() {
    var table = Self.table([
      Self.device("C0:FF:EE:00:00:01", -48, name: "door-01", services: [Self.ota]),
      Self.device("C0:FF:EE:00:00:02", -70, services: ["FE59"]),
    ])
    let lines = table.lines(rows: 24, columns: 100, at: .seconds(7), in: Self.style).map(\.text)
    #expect(
      lines == [
        "  #              RSSI     NAME     DEVICE             SEEN  IMAGE",
        "▸ 1  █████████░  -48 dBm  door-01  C0:FF:EE:00:00:01  7 s   fits ",
        "  2  █████░░░░░  -70 dBm           C0:FF:EE:00:00:02  7 s   no   ",
        "  C0:FF:EE:00:00:01  supports otaflash, which accepts app.bin",
        "  ↑↓ move · ⏎ flash · type to filter · q quit   2 devices found",
      ])
    let narrow = table.lines(rows: 24, columns: 40, at: .seconds(7), in: .plain).map(\.text)
    #expect(narrow[1].hasPrefix("> ") && narrow[1].contains("door-01"))
    #expect(narrow[1].contains("fits") && !narrow[1].contains("C0:FF"))
  }

  /// InfiniTime advertises its DFU service, but not its file service.
  @Test func resourcesFitAWatchWithTheFileService() {
    let fit = ImageFit(
      ResourcePackage(
        name: "fonts.zip", files: [.init(name: "a", path: "/a", bytes: [1, 2, 3])]))
    let advertised: [BluetoothUUID] = [
      "febb", "00001530-1212-efde-1523-785feabcd123", "fe59", "180a",
    ]
    #expect(advertised.map { fit.verdict(on: [$0]) } == [.fits, .unknown, .other, .other])
    #expect(fit.verdict(on: []) == .other && fit.size == 3)
    #expect(fit.reason([advertised[1]]).hasPrefix("advertises the DFU service, as InfiniTime"))
    #expect(fit.reason([]) == "does not advertise the DFU service of InfiniTime")
  }

  // MARK: Scripts

  @Test func aScriptReceivesTheListOfDevices() {
    let results = [
      Self.device("lamp", -40, services: ["FE59"]),
      Self.device("door", -60, name: "door-01", services: [Self.ota]),
    ]
    guard case .noDeviceNamed(let why, let device) = DeviceChoice.refusal(results, for: Self.fit)
    else {
      Issue.record("refused otherwise")
      return
    }
    #expect(why.contains("Found: door (door-01, -60 dBm, fits), lamp (-40 dBm, no). "))
    #expect(device == "door")
    // Devices that the image does not fit are not proposed.
    guard case .noDeviceNamed(_, nil) = DeviceChoice.refusal([results[0]], for: Self.fit) else {
      Issue.record("a device was proposed that cannot take the image")
      return
    }
    #expect(
      DeviceChoice.words(["flash", "--", "-x"], naming: "a") == ["flash", "-d", "a", "--", "-x"])
  }
}

/// Tests of key sequences in the form in which terminals send them.
@Suite struct KeyDecoderTests {
  @Test(arguments: [
    ("\u{1B}[A", Key.up), ("\u{1B}OB", .down), ("k", .character("k")),
    ("\u{7F}", .erase), ("\u{1B}[5~", .pageUp),
    ("\u{1B}[6~", .pageDown), ("\u{1B}[H", .first), ("\u{1B}[4~", .last), ("\r", .enter),
    ("\n", .enter), ("\u{03}", .leave), ("\u{04}", .leave), ("7", .character("7")),
    (" ", .character(" ")), ("\u{01}", .other), ("\u{1B}[1;5C", .other), ("\u{1B}x", .other),
  ])
  func aSequenceInAnyPiecesIsAKey(_ text: String, _ key: Key) {
    var whole = KeyDecoder()
    #expect(whole.take(text.utf8) == [key])
    #expect(whole.pause().isEmpty)
    var parts = KeyDecoder()
    #expect(text.utf8.flatMap { parts.take([$0]) } == [key])
  }

  @Test func anEscapeWithoutAContinuationIsAKey() {
    var decoder = KeyDecoder()
    #expect(decoder.take([0x1B]).isEmpty)
    #expect(decoder.pause() == [.escape])
    #expect(decoder.take("\u{1B}[".utf8).isEmpty)
    #expect(decoder.pause() == [.other] && decoder.take("j".utf8) == [.character("j")])
  }

  /// An invalid sequence ends at some point, and the keys after the sequence are decoded.
  @Test func invalidInputIsNotAKey() {
    var decoder = KeyDecoder()
    let keys = decoder.take([0x1B, 0x5B] + [UInt8](repeating: 0x30, count: 100))
    #expect(keys.allSatisfy { $0 == .other || $0 == .character("0") })
    _ = decoder.pause()
    #expect(decoder.take("q".utf8) == [.character("q")])
  }
}
