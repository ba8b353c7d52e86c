import Foundation
import Testing

@testable import OtaflashConsole
@testable import OtaflashProgram
@testable import otaflash

/// Tests that external text does not control a terminal.
@Suite struct VisibleTextTests {
  static let hostile = "a\u{0}\u{1B}[31m\r\n\t\u{7F}\u{9B}2J\u{202E}\u{2066}\u{200F}\u{2028}z"

  @Test func controlsAndDirectionsAreEscaped() {
    let shown = VisibleText.escaped(Self.hostile)
    #expect(
      shown == #"a\u0000\u001b[31m\u000d\u000a\u0009\u007f\u009b2J\u202e\u2066\u200f\u2028z"#)
    #expect(VisibleText.escaped(shown) == shown)
    let ordinary = "Tür → 東京 👩‍👩‍👧 ✓ \\u001b"
    #expect(VisibleText.escaped(ordinary) == ordinary)
  }

  @Test func everyControlAndEveryDirectionIsHidden() {
    for value in (0 as UInt32)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let category = scalar.properties.generalCategory
      let isHidden =
        [.control, .lineSeparator, .paragraphSeparator].contains(category)
        || scalar.properties.isBidiControl
      guard VisibleText.isHidden(scalar) != isHidden else { continue }
      Issue.record("U+\(String(value, radix: 16))")
    }
  }

  @Test func aLineShowsOnlyItsColors() {
    let style = Style(color: true, unicode: true)
    let line: Line = "\(style.bold("d\u{1B}[2J")) runs \("\u{1B}[32mok")"
    #expect(line.shown == "\u{1B}[1md\\u001b[2J\u{1B}[0m runs \\u001b[32mok")
    #expect(line.text == "d\u{1B}[2J runs \u{1B}[32mok")
    let parts: [Line] = ["a", style.green("b"), ""]
    #expect(parts.joined(separator: "  ").shown == "a  \u{1B}[32mb\u{1B}[0m  ")
  }

  @Test func escapedTextInJSONIsReadBackUnchanged() throws {
    let text = JSONValue.object([JSONValue.Member(name: "n\u{9B}", value: .string(Self.hostile))])
      .text
    #expect(!text.unicodeScalars.contains(where: VisibleText.isHidden))
    let read = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
    #expect(read == ["n\u{9B}": Self.hostile])
  }

  @Test func columnsAreAsWideAsTheyAreShown() {
    #expect(Text.table([["\u{1B}", "b"], ["1234567", "d"]]) == [#"\u001b   b"#, "1234567  d"])
  }
}

/// Tests of external text with the built program, for each source that needs no adapter.
@Suite(.waitsForPrograms) struct HostileTextTests {
  private static let hostile = "a\u{1B}[31m\u{7F}\u{9B}2J\u{202E}"
  private static let image = "firmware-samples/blink-1.0.0.bin"

  @Test func namesFilesAndOptionsDoNotControlTheTerminal() throws {
    let program = try Program()
    let content = try Data(contentsOf: Program.root.appending(path: Self.image))
    let image = try program.file(Self.hostile + ".bin", content)
    let other = try program.file("side.bin", content)
    _ = try program.file("side.bin.json", Array("{\"\\u001b[31m\u{9B}key\":\"x\"}".utf8))
    let missing = program.home.path + "/" + Self.hostile
    let archives = try Self.archives(in: program)
    for words in archives.map({ ["image", "info", $0] }) + [
      ["image", "info", image], ["image", "verify", image, "--crc32", "00000000"],
      ["image", "info", missing], ["image", "info", other], ["info", "-d", "unix:" + missing],
      ["flash", image, "-d", "sim:fast", "--allow-downgrade"],
      ["flash", image, "-d", Self.hostile],
      ["flash", image, "-d", "sim:", "--mtu", Self.hostile],
      ["info", "-d", "name:(" + Self.hostile],
      ["flash", image, "-d", "sim:", "--key-file", missing], [Self.hostile], ["--" + Self.hostile],
      ["simulate", "--listen", missing + "/x"], ["bench", "-d", "sim:", "--plot", Self.hostile],
      ["flash", image, "-d", "sim:", "--capture", missing + "/x"],
    ] {
      for more in [[], ["--json"]] {
        let outcome = try program.run(words + more)
        for scalar in (outcome.output + outcome.errors).unicodeScalars where scalar != "\n" {
          #expect(!VisibleText.isHidden(scalar), "\(words + more): U+\(scalar.value)")
        }
        #expect(!(outcome.output + outcome.errors).isEmpty)
      }
    }
  }

  /// Writes two archives, and returns their paths: the first contains a file with the hostile name,
  /// and the manifest of the second lists a file with this name.
  private static func archives(in program: Program) throws -> [String] {
    let script = """
      import json, sys, zipfile
      home, hostile = sys.argv[1:]
      package = {"application": {"bin_file": hostile, "dat_file": hostile}}
      for path, name, content in (
              ("name.zip", hostile, "1"),
              ("manifest.zip", "manifest.json", json.dumps({"manifest": package}))):
          with zipfile.ZipFile(f"{home}/{path}", "w") as archive: archive.writestr(name, content)
          print(f"{home}/{path}")
      """
    let made = try Program.runTool(["python3", "-", program.home.path, hostile], input: script)
    let archives = made.output.split(separator: "\n").map(String.init)
    #expect(archives.count == 2, "\(made.errors)")
    return archives
  }
}
