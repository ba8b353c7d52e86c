import OtaflashFirmware
import Testing

@Suite("Motorola S-records")
struct SRecordTests {
  /// The example in common descriptions of the format: a small program that prints "Hello world.".
  private static let hello = """
    S00F000068656C6C6F202020202000003C
    S11F00007C0802A6900100049421FFF07C6C1B787C8C23783C6000003863000026
    S11F001C4BFFFFE5398000007D83637880010014382100107C0803A64E800020E9
    S111003848656C6C6F20776F726C642E0A0042
    S5030003F9
    S9030000FC

    """

  static let records: [(String, SRecord)] = [
    ("S00600004844521B", .header(Array("HDR".utf8))),
    (
      "S1137AF00A0A0D0000000000000000000000000061",
      .data(address: 0x7AF0, [0x0A, 0x0A, 0x0D] + [UInt8](repeating: 0, count: 13))
    ),
    ("S205FFFFFF01FC", .data(address: 0xFF_FFFF, [1])),
    ("S306FFFFFFFF01FC", .data(address: .max, [1])),
    ("S5030001FB", .count(1)), ("S604010000FA", .count(0x1_0000)),
    ("S70508000101F0", .end(start: 0x0800_0101)), ("S804010000FA", .end(start: 0x1_0000)),
    ("S9030000FC", .end(start: 0)),
  ]

  @Test("decodes each type of record, in upper and lower case", arguments: records)
  func types(line: String, record: SRecord) throws {
    #expect(try SRecord(decoding: line.utf8) == record)
    #expect(try SRecord(decoding: ("S" + line.dropFirst().lowercased()).utf8) == record)
  }

  @Test(
    "reports the error in a line",
    arguments: [
      ("", .noRecordMark(found: nil)),
      (":00000001FF", .noRecordMark(found: UInt8(ascii: ":"))),
      ("s9030000FC", .noRecordMark(found: UInt8(ascii: "s"))),
      ("S", .tooShort(bytes: 0, least: 1)),
      ("S4030000FC", .unknownType(UInt8(ascii: "4"))),
      ("SA030000FC", .unknownType(UInt8(ascii: "A"))),
      ("S90300G0FC", .notHexadecimal(UInt8(ascii: "G"), column: 7)),
      ("S9 030000FC", .notHexadecimal(UInt8(ascii: " "), column: 3)),
      ("S9030000F", .halfByte(digits: 7)),
      ("S9", .tooShort(bytes: 0, least: 4)),
      ("S70308FF", .tooShort(bytes: 3, least: 6)),
      ("S9040000FC", .wrongLength(stated: 4, found: 3)),
      ("S9030000FD", .wrongChecksum(stated: 0xFD, computed: 0xFC)),
      ("S10500110102E7", .wrongChecksum(stated: 0xE7, computed: 0xE6)),
      ("S904000101F9", .unexpectedData(bytes: 1)),
      ("S105FFFF0102F9", .beyondAddresses(address: 0xFFFF, bytes: 2, bits: 16)),
      ("S307FFFFFFFF0102F9", .beyondAddresses(address: .max, bytes: 2, bits: 32)),
    ] as [(String, SRecordFault)])
  func lineFaults(line: String, fault: SRecordFault) {
    let found = #expect(throws: SRecordFault.self) { try SRecord(decoding: line.utf8) }
    #expect(found == fault)
  }

  @Test("a complete file is one image", arguments: ["\n", "\r\n", "\r", "  \n\n"])
  func file(lineEnd: String) throws {
    let text = Self.hello.replacing("\n", with: lineEnd)
    let file = try SRecordFile(decoding: Array(text.utf8), spanLimit: 1000)
    #expect(file.bytes.count == 0x46)
    #expect(String(decoding: file.bytes[0x38...], as: UTF8.self) == "Hello world.\n\0")
    #expect(file.layout == AddressLayout(lowestAddress: 0, start: nil, dataCount: 0x46))
  }

  @Test("gaps are filled, types may be mixed, and the start address is kept")
  func gap() throws {
    let text = "S2060000140300E2\nS10500100102E7\nS70508000101F0"
    let file = try SRecordFile(decoding: Array(text.utf8), spanLimit: 1000)
    #expect(file.bytes == [1, 2, 0xFF, 0xFF, 3, 0])
    #expect(
      file.layout
        == AddressLayout(lowestAddress: 0x10, start: .linear(0x0800_0101), dataCount: 4))
  }

  @Test(
    "errors in a file are reported with their line",
    arguments: [
      ("S10500100102E7", 1, .endMissing),
      ("S9030000FC", 1, .noData),
      ("S10500100102E7\nS9030000FC\nS10500100102E7", 3, .recordAfterEnd(end: 2)),
      ("S10500100102E7\nS5030002FA\nS9030000FC", 2, .wrongCount(stated: 2, found: 1)),
      ("S10500100102E7\n\nS10500100102E7\nS9030000FC", 3, .overlap(address: 0x10, other: 1)),
      ("S10500100102E7\nS5030001FB\nS10500200102D7", 3, .endMissing),
    ] as [(String, Int, SRecordFault)])
  func fileFaults(text: String, line: Int, fault: SRecordFault) {
    #expect(throws: TextFault.line(line, fault)) {
      try SRecordFile(decoding: Array(text.utf8), spanLimit: 100)
    }
  }

  @Test("a correct count of all records ends a file, as in the output of srec_cat")
  func counted() throws {
    let whole = try SRecordFile(decoding: Array(Self.hello.utf8), spanLimit: 1000)
    let text = Self.hello.replacing("S9030000FC\n", with: "")
    #expect(try SRecordFile(decoding: Array(text.utf8), spanLimit: 1000) == whole)
  }

  @Test("a truncated file is refused")
  func truncated() {
    let text = Array(Self.hello.utf8)
    let counted = Self.hello.utf8.count - "\nS9030000FC\n".utf8.count
    // The last line end may be missing, and no record is required after the count.
    for count in 0..<(text.count - 1) where !(counted...(counted + 1)).contains(count) {
      #expect(throws: TextFault<SRecordFault>.self, "\(count)") {
        try SRecordFile(decoding: Array(text.prefix(count)), spanLimit: 1000)
      }
    }
  }

  @Test("one changed character is refused, or does not change the image")
  func everyCharacter() throws {
    let text = Array(Self.hello.utf8)
    let whole = try SRecordFile(decoding: text, spanLimit: 1000)
    for index in text.indices {
      let changed = text.replacing(index, by: text[index] ^ 1)
      // Blank lines and the content of a header record are not part of the image.
      guard let file = try? SRecordFile(decoding: changed, spanLimit: 1000) else { continue }
      #expect(file == whole, "character \(index)")
    }
  }

  @Test("the S-records of objcopy equal the output of objcopy -O binary", arguments: ["32", "64"])
  func objcopy(bits: String) throws {
    let image = try Fixture.image("SRecord/firmware-\(bits).srec")
    #expect(image.format == .sRecord)
    #expect(try image.bytes == Fixture.bytes("ELF/firmware-\(bits).bin"))
    #expect(image.layout?.lowestAddress == 0x0800_0000)
    #expect(try image.layout?.start == Fixture.image("ELF/firmware-\(bits).elf").layout?.start)
  }
}
