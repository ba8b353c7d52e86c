import OtaflashFirmware
import Testing

@Suite("UF2 and ELF files")
struct ProgramFileTests {
  /// Returns one block with a payload.
  private static func block(
    _ number: UInt32, of count: UInt32, at address: UInt32, _ payload: [UInt8],
    flags: UInt32 = 0x2000, family: UInt32 = 0xADA5_2840, size: UInt32? = nil
  ) -> [UInt8] {
    var block = Array("UF2\n".utf8) + littleEndian(UInt32(0x9E5D_5157)) + littleEndian(flags)
    block +=
      littleEndian(address) + littleEndian(size ?? UInt32(payload.count)) + littleEndian(number)
    block += littleEndian(count) + littleEndian(family) + payload
    return block + [UInt8](repeating: 0, count: 508 - block.count)
      + littleEndian(UInt32(0x0AB1_6F30))
  }

  private static func uf2(_ blocks: [UInt8]) throws(UF2Fault) -> UF2File {
    try UF2File(decoding: blocks, spanLimit: 1 << 16)
  }

  @Test("a UF2 file is one memory range from its lowest to its highest address")
  func uf2() throws {
    let image = try Fixture.image("UF2/gap.uf2")
    #expect(image.format == .uf2)
    let first = (0...255).map { UInt8($0) }
    #expect(
      image.bytes == first + [UInt8](repeating: 0xFF, count: 256) + first.prefix(100))
    #expect(
      image.layout == AddressLayout(lowestAddress: 0x27000, start: nil, dataCount: 356))
    let file = try UF2File(decoding: Fixture.bytes("UF2/gap.uf2"), spanLimit: 1 << 16)
    #expect(file.family?.description == "Nordic nRF52840 (0xADA52840)")
    let comment = Self.block(0, of: 2, at: 0, [9], flags: 1) + Self.block(1, of: 2, at: 4, [1])
    #expect(try Self.uf2(comment).bytes == [1])
    let anyone = Self.block(0, of: 1, at: 4, [1], flags: 0)
    #expect(try Self.uf2(anyone).family == nil)
  }

  @Test("the first block that picotool adds for an RP2350 is not flashed")
  func rp2350() throws {
    let page = [UInt8](repeating: 0xEF, count: 256)
    let tag: [UInt8] = [0x04, 0xE3, 0x57, 0x99]
    let first = Self.block(
      0, of: 2, at: 0x10FF_FF00, page + tag, flags: 0xA000, family: 0xE48B_FF57, size: 256)
    let rest =
      Self.block(0, of: 2, at: 0x1000_0000, [1], family: 0xE48B_FF59)
      + Self.block(1, of: 2, at: 0x1000_0001, [2], family: 0xE48B_FF59)
    let file = try Self.uf2(first + rest)
    #expect(file.bytes == [1, 2])
    #expect(file.family?.description == "Raspberry Pi RP2350, Arm secure (0xE48BFF59)")
    // Without the tag it is a regular block.
    let untagged = Self.block(
      0, of: 2, at: 0x10FF_FF00, page, flags: 0x2000, family: 0xE48B_FF57, size: 256)
    #expect(throws: UF2Fault.secondFamily(UF2Family(rawValue: 0xE48B_FF59), block: 2)) {
      try Self.uf2(untagged + rest)
    }
    #expect(throws: UF2Fault.blocksMissing(found: 1, count: 2)) {
      try Self.uf2(first + rest.prefix(512))
    }
  }

  @Test("damaged UF2 files are refused at their block")
  func uf2Faults() {
    let good = Self.block(0, of: 1, at: 0x100, [1, 2])
    func expect(_ blocks: [UInt8], _ fault: UF2Fault, line: Int = #line) {
      #expect(throws: fault, "line \(line)") { try Self.uf2(blocks) }
    }
    expect(Array(good.dropLast()), .cutOff(size: 511))
    expect([], .cutOff(size: 0))
    expect(good.replacing(4, by: 0), .wrongMagic(block: 0))
    expect(good.replacing(511, by: 0), .wrongMagic(block: 0))
    expect(Self.block(0, of: 1, at: 0, [1], size: 477), .payloadTooLong(block: 0, size: 477))
    expect(Self.block(0, of: 1, at: 0, [1], size: .max), .payloadTooLong(block: 0, size: .max))
    expect(Self.block(0, of: 2, at: 0, [1]), .blocksMissing(found: 1, count: 2))
    let two = Self.block(0, of: 1, at: 0, [1]) + Self.block(0, of: 1, at: 4, [1], family: 5)
    expect(two, .secondFamily(UF2Family(rawValue: 5), block: 1))
    expect(
      Self.block(0, of: 1, at: 0, [1]) + Self.block(1, of: 1, at: 4, [1]),
      .outOfOrder(block: 0, number: 0, count: 1))
    expect(Self.block(1, of: 1, at: 0, [1]), .outOfOrder(block: 0, number: 1, count: 1))
    expect(Self.block(0, of: 1, at: 0, [1], flags: 0x1000), .fileContainer(block: 0))
    expect(
      Self.block(0, of: 2, at: 0, [1]) + Self.block(1, of: 2, at: 1, [1], family: 5),
      .secondFamily(UF2Family(rawValue: 5), block: 1))
    expect(
      Self.block(0, of: 1, at: .max, [1, 2]), .addressTooHigh(block: 0, address: .max))
    expect(
      Self.block(0, of: 2, at: 0, [1, 2]) + Self.block(1, of: 2, at: 1, [1]),
      .overlap(block: 1, other: 0, address: 1))
    expect(
      Self.block(0, of: 2, at: 0, [1]) + Self.block(1, of: 2, at: 0x10000, [1]),
      .addresses(.spanTooLarge(AddressRegion("0..65537")!, limit: 1 << 16)))
    expect(Self.block(0, of: 1, at: 0, [9], flags: 1), .noData)
  }

  @Test("an ELF program equals the output of objcopy", arguments: [32, 64])
  func elf(bits: Int) throws {
    let image = try Fixture.image("ELF/firmware-\(bits).elf")
    #expect(image.format == .elf)
    #expect(try image.bytes == Fixture.bytes("ELF/firmware-\(bits).bin"))
    #expect(image.layout?.lowestAddress == 0x0800_0000)
    #expect(image.layout?.start == .linear(0x0800_0100))
  }

  /// The file as lld links it without `--nmagic`, if flash starts at a page boundary: the first
  /// segment starts at the first byte of the file.
  @Test(
    "the sections are the firmware of a segment with the file's own headers",
    arguments: [false, true])
  func elfWithHeaders(is64Bit: Bool) throws {
    let good = try Fixture.bytes("ELF/firmware-\(is64Bit ? 64 : 32).elf")
    let header = is64Bit ? 64 : 52
    func number(_ value: UInt64, at: Int, in bytes: [UInt8]) -> [UInt8] {
      is64Bit ? bytes.littleEndian(value, at: at) : bytes.littleEndian(UInt32(value), at: at)
    }
    // .vectors and .text are bytes 0x1000 ..< 0x1114 of the file.
    var whole = number(0, at: header + (is64Bit ? 8 : 4), in: good)
    whole = number(0x07FF_F000, at: header + (is64Bit ? 24 : 12), in: whole)
    whole = number(0x1114, at: header + (is64Bit ? 32 : 16), in: whole)
    let file = try ELFFile(decoding: whole, spanLimit: 1 << 16)
    #expect(try file.bytes == Fixture.bytes("ELF/firmware-\(is64Bit ? 64 : 32).bin"))
    #expect(file.layout.lowestAddress == 0x0800_0000)
    func isRefused(_ bytes: [UInt8], line: Int = #line) {
      #expect(throws: ELFFault.segmentHoldsHeader(segment: 0), "line \(line)") {
        try ELFFile(decoding: bytes, spanLimit: 1 << 16)
      }
    }
    // The section table is missing, or a section overlaps the header or exceeds the segment.
    let count = is64Bit ? 60 : 48
    isRefused(whole.littleEndian(UInt16(0), at: count))
    isRefused(whole.littleEndian(UInt16.max, at: count))
    let all = is64Bit ? UInt64.max : UInt64(UInt32.max)
    isRefused(number(all, at: is64Bit ? 40 : 32, in: whole))
    let table = (0..<4).reduce(0) { $0 | Int(good[(is64Bit ? 40 : 32) + $1]) << (8 * $1) }
    let vectors = table + (is64Bit ? 64 : 40)
    isRefused(number(0x10, at: vectors + (is64Bit ? 24 : 16), in: whole))
    isRefused(number(all, at: vectors + (is64Bit ? 32 : 20), in: whole))
  }

  @Test("damaged ELF files are refused at their segment", arguments: [false, true])
  func elfFaults(is64Bit: Bool) throws {
    let good = try Fixture.bytes("ELF/firmware-\(is64Bit ? 64 : 32).elf")
    let header = is64Bit ? 64 : 52
    let size = is64Bit ? 56 : 32
    func expect(_ bytes: [UInt8], _ fault: ELFFault, line: Int = #line) {
      #expect(throws: fault, "line \(line)") {
        try ELFFile(decoding: bytes, spanLimit: 1 << 16)
      }
    }
    /// Changes an address-sized field of a program header.
    func with(_ value: UInt64, segment: Int, _ field: (narrow: Int, wide: Int)) -> [UInt8] {
      let at = header + segment * size + (is64Bit ? field.wide : field.narrow)
      return is64Bit
        ? good.littleEndian(value, at: at)
        : good.littleEndian(UInt32(truncatingIfNeeded: value), at: at)
    }
    let offset = (narrow: 4, wide: 8)
    let address = (narrow: 12, wide: 24)
    let fileSize = (narrow: 16, wide: 32)
    let all = is64Bit ? UInt64.max : UInt64(UInt32.max)
    expect(Array(good.prefix(51)), .headerCutOff(found: 51))
    expect(good.replacing(4, by: 3), .unknownClass(3))
    expect(good.replacing(5, by: 2), .bigEndian)
    expect(good.replacing(16, by: 1), .notExecutable(type: 1))
    expect(
      good.littleEndian(UInt16(65), at: is64Bit ? 56 : 44), .tooManySegments(count: 65, limit: 64))
    // The segment has no sections.
    let unclaimed = try ELFFile(decoding: with(0, segment: 0, offset), spanLimit: 1 << 16)
    #expect(unclaimed.layout.dataCount == 24)
    // A segment that contains only the headers, as lld creates it, is not firmware.
    let own = UInt64(header + 3 * size)
    let headers =
      is64Bit
      ? with(0, segment: 0, offset).littleEndian(own, at: header + fileSize.wide)
      : with(0, segment: 0, offset).littleEndian(UInt32(own), at: header + fileSize.narrow)
    let rest = try ELFFile(decoding: headers, spanLimit: 1 << 16)
    #expect(rest.layout.dataCount == 24)
    expect(
      with(all, segment: 0, fileSize),
      .segmentBeyondEnd(segment: 0, offset: 0x1000, size: all))
    let first = try #require(
      try? ELFFile(decoding: good, spanLimit: 1 << 16)
    )
    #expect(first.layout.dataCount == 300)
    expect(
      with(0x0800_0004, segment: 1, address),
      .overlap(segment: 1, other: 0, address: 0x0800_0004))
    expect(
      with(0xFFFF_FFFC, segment: 1, address), .addressTooHigh(segment: 1, address: 0xFFFF_FFFC))
    expect(
      with(0x0900_0000, segment: 1, address),
      .addresses(
        .farApart([
          .init(region: AddressRegion("0x08000000..0x08000114")!, dataCount: 276),
          .init(region: AddressRegion("0x09000000..0x09000018")!, dataCount: 24),
        ])))
    expect(
      good.littleEndian(UInt16(0), at: is64Bit ? 56 : 44), .noData)
    let segments =
      is64Bit ? good.littleEndian(UInt64.max, at: 32) : good.littleEndian(UInt32.max, at: 28)
    expect(
      segments,
      .programHeadersOutOfPlace(offset: all, count: 3, size: UInt16(size)))
    for count in stride(from: 0, to: good.count, by: 61) where count < 0x2000 + 24 {
      #expect(throws: ELFFault.self, "\(count)") {
        try ELFFile(decoding: Array(good.prefix(count)), spanLimit: 1 << 16)
      }
    }
  }
}
