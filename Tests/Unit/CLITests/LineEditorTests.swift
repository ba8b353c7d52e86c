import OtaflashConsole
import OtaflashDevices
import Testing

/// Tests of the line that the user types, and of the lines that a device sends.
@Suite struct LineEditorTests {
  private static func lines(_ parts: String...) -> [LineEditor.Input] {
    var editor = LineEditor()
    return parts.flatMap { editor.take($0.utf8) }
  }

  @Test(arguments: [
    ("version\r", "version"), ("ab\u{7F}c\n", "ac"), ("bc\u{01}a\r", "abc"),
    ("one two\u{15}x\r", "x"), ("ac\u{1B}[Db\r", "abc"), ("abc\u{1B}[D\u{1B}[D\u{0B}\r", "a"),
    ("héllo 🙂\r", "héllo 🙂"), ("ab\u{1B}[H\u{1B}[3~\r", "b"), ("a\u{1B}[5~b\r", "ab"),
  ])
  func keysEditTheLine(_ typed: String, _ line: String) {
    #expect(Self.lines(typed) == [.line(line)])
  }

  @Test func theArrowKeysRecallEarlierLinesAndTheDraft() {
    #expect(
      Self.lines("one\r", "two\r", "dra", "\u{1B}[A\u{1B}[A\u{1B}[A", "\r")
        == [.line("one"), .line("two"), .line("one")])
    #expect(
      Self.lines("one\r", "dra", "\u{1B}[A\u{1B}[B", "ft\r") == [.line("one"), .line("draft")])
  }

  @Test func controlDEndsOnlyInAnEmptyLine() {
    #expect(Self.lines("\u{04}") == [.end])
    #expect(Self.lines("a\u{04}\r") == [.line("a")])
  }

  @Test func linesAreAssembledFromParts() {
    var assembler = LineAssembler()
    let bytes = Array("\u{1B}[1;32mtemperature 21 °C\u{1B}[0m\r\n\r\nuart:~$ ".utf8)
    let lines = bytes.flatMap { assembler.take([$0]) }
    #expect(lines == ["temperature 21 °C"])
    #expect(assembler.isUnfinished)
    #expect(assembler.flush() == "uart:~$ ")
    #expect(!assembler.isUnfinished && assembler.flush() == nil)
  }

  @Test func aLineWithoutEndIsSplit() {
    var assembler = LineAssembler()
    let lines = assembler.take(Array(repeating: UInt8(ascii: "x"), count: 5000))
    #expect(lines.map(\.count) == [LineAssembler.maximum])
    #expect(assembler.flush()?.count == 5000 - LineAssembler.maximum)
  }
}
