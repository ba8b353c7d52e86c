import FoundationEssentials
import OtaflashFirmware
import Testing

/// Tests that compare the table of image formats with the documents and the schema.
@Suite struct ImageFormatTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
  }

  @Test func theSchemaListsTheFormats() throws {
    let names = FirmwareImage.Format.allCases.map { "\"\($0.rawValue)\"" }
    #expect(
      try Self.text("docs/events.schema.json")
        .contains("\"format\": { \"enum\": [\(names.joined(separator: ", "))] }"))
  }

  @Test(arguments: FirmwareImage.Format.allCases)
  func theDocumentDescribesTheDetection(_ format: FirmwareImage.Format) throws {
    let rows = try Self.text("docs/image-formats.md").split(separator: "\n")
      .map { $0.split(separator: "|").map { cell in cell.trimming(while: \.isWhitespace) } }
    let row = try #require(rows.first { $0.first?.hasSuffix(format.row.title) ?? false })
    switch format.row.sign {
    case .magic(let bytes):
      let hexadecimal = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16).uppercased() }
      let isText = bytes.dropLast().allSatisfy { (0x20...0x7E).contains($0) }
      let characters = String(decoding: bytes, as: UTF8.self).replacing("\n", with: "\\n")
      #expect(row[1] == "`\(isText ? characters : hexadecimal.joined(separator: " "))`")
    case .text(let suffixes, _):
      let list = suffixes.map { "`\($0)`" }.joined(separator: ", ")
      #expect(row[1].hasPrefix("name (\(list)), or a first non-blank line that starts with"))
    case .noOther: #expect(row[1] == "anything else")
    }
  }

  @Test(arguments: FirmwareImage.Format.allCases)
  func theManualListsTheFormat(_ format: FirmwareImage.Format) throws {
    let manual = try Self.text("man/otaflash-image.5").replacing("\\-", with: "-")
      .split(separator: "\n")
    let item = try #require(
      manual.firstIndex { $0.hasPrefix(".It ") && $0.hasSuffix(format.row.title) })
    let body = manual[(item + 1)...].prefix { !$0.hasPrefix(".") }.joined(separator: " ")
    #expect(body.hasPrefix(format.row.summary))
    let paths = manual.filter { $0.hasPrefix(".Pa ") }.flatMap { $0.split(separator: " ") }
    #expect(format.row.sign.suffixes.allSatisfy { paths.contains($0[...]) })
  }

  @Test func listsOfFormatsReadAsSentences() {
    #expect(["a", "b", "c"].listed(before: "and") == "a, b and c")
    #expect(FirmwareImage.Format.anyOne.hasPrefix("binary, Intel HEX, "))
    #expect(!FirmwareImage.Format.addressed.contains("binary"))
  }

  /// The priority of the rules if a file matches several formats.
  @Test(arguments: [
    ("a.hex", "S10500100102E7\nS9030000FC\n", FirmwareImage.Format.intelHex),
    ("a.mot", ":00000001FF\n", .sRecord), ("a.bin", "S9030000FC\n", .sRecord),
    ("a.s19", "UF2\n", .uf2), ("a.hex", "\u{7F}ELF", .elf), ("a.bin", "S9", .binary),
  ])
  func theMagicHasPriorityOverNameAndText(
    _ name: String, _ text: String, _ format: FirmwareImage.Format
  ) {
    #expect(FirmwareImage.Format(of: Array(text.utf8), name: name) == format)
  }
}

extension Substring {
  fileprivate func trimming(while isDropped: (Character) -> Bool) -> String {
    String(drop(while: isDropped).reversed().drop(while: isDropped).reversed())
  }
}
