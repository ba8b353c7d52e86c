import OtaflashConsole
import Testing

@Suite struct TextTableTests {
  private static let table = TextTable(
    titles: ["MTU", "mode", "rate", "limit", "empty"],
    rows: [
      ["23", "auto", "1.2 kB/s", "packet size", ""], ["247", "auto", "97 kB/s", "air", ""],
    ], kept: ["MTU"])

  @Test func aWideTerminalShowsTheCompleteTable() {
    let lines = [
      "MTU  mode  rate      limit        empty", "23   auto  1.2 kB/s  packet size",
      "247  auto  97 kB/s   air",
    ]
    #expect(Self.table.lines(within: nil) == lines)
    #expect(Self.table.lines(within: 39) == lines)
  }

  @Test func commonValuesBecomeASentence() {
    #expect(
      Self.table.lines(within: 38) == [
        "all: mode auto", "MTU  rate      limit", "23   1.2 kB/s  packet size",
        "247  97 kB/s   air",
      ])
  }

  @Test func theRestIsDividedIntoTables() {
    #expect(
      Self.table.lines(within: 20) == [
        "all: mode auto", "MTU  rate", "23   1.2 kB/s", "247  97 kB/s", "", "MTU  limit",
        "23   packet size", "247  air",
      ])
  }

  /// In the last table, a row could be identified without the interval.
  @Test func aCommonColumnThatIdentifiesARowBecomesASentence() {
    let table = TextTable(
      titles: ["mode", "interval", "MTU", "rate"],
      rows: [["auto", "15 ms", "23", "1.2 kB/s"], ["auto", "15 ms", "247", "97 kB/s"]],
      kept: ["mode", "interval", "MTU"])
    #expect(
      table.lines(within: 20) == [
        "all: mode auto,", "interval 15 ms", "MTU  rate", "23   1.2 kB/s", "247  97 kB/s",
      ])
    let equal = TextTable(
      titles: ["mode", "rate"], rows: [["automatic", "1.2 kB/s"], ["automatic", "1.2 kB/s"]],
      kept: ["mode"])
    #expect(equal.lines(within: 15)[0] == "all: rate 1.2")
  }

  @Test(arguments: [20, 24, 33, 40, 80]) func noLineIsWiderThanTheTerminal(_ width: Int) {
    #expect(Self.table.lines(within: width).allSatisfy { $0.count <= width })
  }

  @Test func wideCharactersOccupyTwoColumns() {
    #expect(
      Text.table([["門口", "a"], ["door", "b"], ["x", "c"]]) == ["門口  a", "door  b", "x     c"])
  }

  @Test func oneRowHasNoCommonColumns() {
    let table = TextTable(titles: ["A", "B"], rows: [["123456789", "123456789"]], kept: ["A"])
    #expect(table.lines(within: 15) == ["A          B", "123456789  123456789"])
  }
}

@Suite struct WrappingTests {
  private static let sentence = Line("error: the device does not accept this image", paint: "31")

  @Test func aSentenceIsWrappedAtSpacesAndKeepsItsColor() {
    let lines = Self.sentence.wrapped(to: 24)
    #expect(lines.map(\.text) == ["error: the device does", "  not accept this image"])
    #expect(lines[0].shown.hasPrefix("\u{1B}[31merror:"))
    #expect(lines[1].shown.contains("\u{1B}[31mnot"))
  }

  @Test func theIndentIsKept() {
    let lines = Line("    one two three four five six").wrapped(to: 20)
    #expect(lines.map(\.text) == ["    one two three", "    four five six"])
  }

  @Test func theTextAfterALabelIsIndented() {
    let line = Line("done    running 1.3.0, verified, in 12.0 s")
    #expect(
      line.wrapped(to: 24, hanging: true).map(\.text) == [
        "done    running 1.3.0,", "        verified, in", "        12.0 s",
      ])
    #expect(
      line.wrapped(to: 24).map(\.text) == ["done    running 1.3.0,", "  verified, in 12.0 s"])
    let check = Line("fail  kernel support   This kernel has no Bluetooth, or needs a module.")
    #expect(
      check.wrapped(to: 69, hanging: true).map(\.text) == [
        "fail  kernel support   This kernel has no Bluetooth, or needs a",
        "                       module.",
      ])
    // In a narrow terminal, the label would leave too little room.
    #expect(check.wrapped(to: 40, hanging: true)[1].text.hasPrefix("      no"))
  }

  @Test func partsStayOnOneLine() {
    let ticks = Line("  ✓ verify 1.7 s   ✓ activate 0.1 s   ✓ connect 0.4 s   ✓ reconnect 0.9 s")
    #expect(
      ticks.wrapped(to: 40).map(\.text) == [
        "  ✓ verify 1.7 s   ✓ activate 0.1 s", "  ✓ connect 0.4 s   ✓ reconnect 0.9 s",
      ])
    let headline = Line("sim:  1.2.0 → 1.3.0   MTU 512 · 2M · 15 ms")
    #expect(
      headline.wrapped(to: 40).map(\.text) == ["sim:  1.2.0 → 1.3.0", "  MTU 512 · 2M · 15 ms"])
  }

  @Test(arguments: [20, 24, 33, 40, 80, 120])
  func noWrappedLineIsWiderThanTheTerminal(_ width: Int) {
    let texts = [
      "done    37 of 40 devices run 1.3.0, verified by read-back; 1 failed, 2 not found, in 4:22",
      "  wave canary  stops at 2 failed, continues at 80% success, soaks 10s, without approval",
      "a  b  c   d    e", "  ✓ verify 1.7 s   ✓ activate 0.1 s   ✓ connect 0.4 s",
    ]
    for text in texts {
      for lines in [Line(text).wrapped(to: width), Line(text).wrapped(to: width, hanging: true)] {
        #expect(lines.allSatisfy { $0.columns <= width }, "\(lines.map(\.text))")
        let words = lines.flatMap { $0.text.split(separator: " ") }
        #expect(words == text.split(separator: " "))
      }
    }
  }

  @Test func aLongWordIsNotDivided() {
    let word = String(repeating: "x", count: 30)
    #expect(Line("a \(word) b").wrapped(to: 20).map(\.text) == ["a", "  \(word)", "  b"])
  }

  @Test func aShortLineIsNotChanged() {
    #expect(Line("done    running 1.3.0").wrapped(to: 80) == ["done    running 1.3.0"])
  }

  @Test(arguments: [
    (0.5, "just now"), (-60, "just now"), (12, "12 s ago"), (130, "2 min ago"),
    (7_300, "2 h ago"), (200_000, "2 days ago"), (2_000_000, "2026-11-06"),
  ])
  func pastTimesAreForPeople(_ age: Double, _ text: String) {
    #expect(Timestamp.ago(1_796_000_000 - age, now: 1_796_000_000) == text)
  }
}
