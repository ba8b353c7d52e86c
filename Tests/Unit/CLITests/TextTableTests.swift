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

  @Test(arguments: [20, 24, 33, 40, 80]) func noLineIsWiderThanTheTerminal(_ width: Int) {
    #expect(Self.table.lines(within: width).allSatisfy { $0.count <= width })
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
