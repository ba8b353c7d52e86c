import OtaflashFirmware
import OtaflashTestSupport
import Testing

@Suite("Intel HEX files")
struct IntelHexFileTests {
  private static func text(_ records: [IntelHexRecord], lineEnd: String = "\n") -> [UInt8] {
    Array(records.map { $0.encoded + lineEnd }.joined().utf8)
  }

  private static func decode(
    _ records: [IntelHexRecord], spanLimit: Int = 1 << 20
  ) throws -> IntelHexFile {
    try IntelHexFile(decoding: text(records), spanLimit: spanLimit)
  }

  @Test("fills the gap between two records with 0xFF and keeps the addresses")
  func gap() throws {
    let file = try Self.decode([
      .extendedLinearAddress(upper: 0x0800),
      .data(loadOffset: 0x0004, [1, 2]),
      .data(loadOffset: 0x0008, [3]),
      .startLinearAddress(0x0800_0005),
      .endOfFile,
    ])
    #expect(file.bytes == [1, 2, 0xFF, 0xFF, 3])
    #expect(
      file.layout
        == AddressLayout(
          lowestAddress: 0x0800_0004, start: .linear(0x0800_0005), dataCount: 3))
  }

  @Test("accepts records in any order of addresses")
  func order() throws {
    let file = try Self.decode([
      .data(loadOffset: 2, [3, 4]), .data(loadOffset: 0, [1, 2]), .endOfFile,
    ])
    #expect(file.bytes == [1, 2, 3, 4])
  }

  @Test("a linear record continues across 64 KiB, a segment's record wraps to its start")
  func wrap() throws {
    let linear = try Self.decode([
      .extendedLinearAddress(upper: 1), .data(loadOffset: 0xFFFF, [1, 2]), .endOfFile,
    ])
    #expect(linear.bytes == [1, 2])
    #expect(linear.layout.lowestAddress == 0x1_FFFF)
    let segment = try Self.decode([
      .extendedSegmentAddress(base: 0x1000), .data(loadOffset: 0xFFFF, [1, 2]), .endOfFile,
    ])
    #expect(segment.layout.lowestAddress == 0x1_0000)
    #expect(segment.bytes.count == 0x1_0000)
    #expect(segment.bytes.first == 2)
    #expect(segment.bytes.last == 1)
  }

  @Test("segments of the 8086 may overlap, but their bytes must not")
  func segments() throws {
    let file = try Self.decode([
      .extendedSegmentAddress(base: 0x0001), .data(loadOffset: 0, [2]),
      .extendedSegmentAddress(base: 0x0000), .data(loadOffset: 0x000F, [1]),
      .startSegmentAddress(cs: 1, ip: 2), .endOfFile,
    ])
    #expect(file.bytes == [1, 2])
    #expect(file.layout.start == .segment(cs: 1, ip: 2))
  }

  @Test("CRLF, CR, blank lines, trailing blanks and a missing last line end are accepted")
  func lineEnds() throws {
    let records: [IntelHexRecord] = [.data(loadOffset: 0, [1, 2]), .endOfFile]
    for lineEnd in ["\n", "\r\n", "\r", " \t\r\n", "\n\n\r\n"] {
      let file = try IntelHexFile(
        decoding: Self.text(records, lineEnd: lineEnd), spanLimit: 100)
      #expect(file.bytes == [1, 2])
    }
    #expect(
      try IntelHexFile(decoding: Self.text(records).dropLast(), spanLimit: 100).bytes == [1, 2])
  }

  @Test(
    "reports the line and the fault",
    arguments: [
      ([.data(loadOffset: 0, [1])], 1, .endMissing),
      ([.endOfFile], 1, .noData),
      ([.data(loadOffset: 0, []), .endOfFile], 2, .noData),
      (
        [.data(loadOffset: 0, [1]), .endOfFile, .data(loadOffset: 1, [1])], 3,
        .recordAfterEnd(end: 2)
      ),
      (
        [.data(loadOffset: 4, [1, 2]), .data(loadOffset: 5, [9]), .endOfFile], 2,
        .overlap(address: 5, other: 1)
      ),
      (
        [.data(loadOffset: 5, [9]), .data(loadOffset: 4, [1, 2]), .endOfFile], 2,
        .overlap(address: 5, other: 1)
      ),
      (
        [
          .startLinearAddress(1), .data(loadOffset: 0, [1]), .startSegmentAddress(cs: 0, ip: 0),
          .endOfFile,
        ], 3, .secondStartAddress
      ),
    ] as [([IntelHexRecord], Int, IntelHexFault)])
  func faults(records: [IntelHexRecord], line: Int, fault: IntelHexFault) {
    #expect(throws: TextFault.line(line, fault)) {
      try Self.decode(records, spanLimit: 100)
    }
  }

  @Test("a Universal Hex file is reported as a Universal Hex file")
  func universal() {
    let text = Array(":0400000A9900C0DEBB\n".utf8)
    #expect(throws: TextFault<IntelHexFault>.line(1, .universalHex(type: 0x0A))) {
      try IntelHexFile(decoding: text, spanLimit: 100)
    }
  }

  @Test("counts CRLF as one line end")
  func lineNumbers() {
    let text = Array(":0100000001FE\r\n\r\n:00000001FE\r\n".utf8)
    #expect(
      throws: TextFault<IntelHexFault>.line(3, .wrongChecksum(stated: 0xFE, computed: 0xFF))
    ) { try IntelHexFile(decoding: text, spanLimit: 100) }
  }

  @Test("a span equal to the limit is allowed")
  func spanAtLimit() throws {
    let file = try Self.decode(
      [.data(loadOffset: 0, [1]), .data(loadOffset: 99, [2]), .endOfFile], spanLimit: 100)
    #expect(file.bytes.count == 100)
  }

  @Test("a truncated file is refused, never accepted as a shorter image")
  func truncation() throws {
    let whole = Self.text([
      .extendedLinearAddress(upper: 0x0800), .data(loadOffset: 0, Array(0..<32)),
      .data(loadOffset: 32, Array(32..<64)), .endOfFile,
    ])
    for count in 0..<(whole.count - 1) {
      #expect(throws: TextFault<IntelHexFault>.self) {
        try IntelHexFile(decoding: Array(whole.prefix(count)), spanLimit: 1000)
      }
    }
  }

  @Test("a randomly changed file is decoded or refused, but never traps", arguments: 0..<40)
  func mutation(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let whole = Self.text([
      .extendedSegmentAddress(base: 0xF000), .data(loadOffset: 0xFFF8, Array(0..<16)),
      .extendedLinearAddress(upper: 0xFFFF), .data(loadOffset: 0xFFF0, Array(0..<16)),
      .startLinearAddress(4), .endOfFile,
    ])
    let alphabet = Array(":0123456789ABCDEFabcdef\r\n \u{0}g".utf8) + [0xFF]
    for _ in 0..<200 {
      var text = whole
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let at = Int.random(in: 0..<text.count, using: &random)
        let character = alphabet.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<3, using: &random) {
        case 0: text[at] = character
        case 1: text.remove(at: at)
        default: text.insert(character, at: at)
        }
      }
      do {
        let file = try IntelHexFile(decoding: text, spanLimit: 1 << 16)
        #expect(file.bytes.count <= 1 << 16)
      } catch {
        #expect(!error.description.isEmpty)
      }
    }
  }
}
