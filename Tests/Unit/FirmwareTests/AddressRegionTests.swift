import OtaflashFirmware
import Testing

/// Tests of files with data far from the image: excluded data, messages, and selected regions.
@Suite("Addresses of files")
struct AddressRegionTests {
  private static func region(_ text: String) throws -> AddressRegion {
    try #require(AddressRegion(text))
  }

  /// Returns a HEX file with bytes at 32-bit addresses.
  private static func hex(_ places: [(UInt32, [UInt8])]) -> [UInt8] {
    let records = places.flatMap { address, bytes in
      [
        IntelHexRecord.extendedLinearAddress(upper: UInt16(address >> 16)),
        .data(loadOffset: UInt16(address & 0xFFFF), bytes),
      ]
    }
    return Array((records + [.endOfFile]).map { $0.encoded + "\n" }.joined().utf8)
  }

  private static func image(
    _ places: [(UInt32, [UInt8])], _ region: AddressRegion? = nil
  ) throws(FirmwareFault) -> FirmwareImage {
    try FirmwareImage.decode(name: "a.hex", bytes: hex(places), region: region)
  }

  @Test("a region is written as two addresses; the second address is exclusive")
  func text() throws {
    #expect(try Self.region("0x1000..0x12ECC").range == 0x1000..<0x12ECC)
    #expect(try Self.region("0X1000..8192").description == "0x00001000..0x00002000")
    #expect(try Self.region("0..4294967296").description == "0x00000000..0x100000000")
    for text in ["", "..", "1..", "..1", "1..1", "2..1", "1-2", "0..4294967297", "-1..2", "+1..2"] {
      #expect(AddressRegion(text) == nil, "\(text)")
    }
  }

  /// The addresses of the firmware and of other data in the file, and the name of this data.
  static let known: [(UInt32, UInt32, String)] = [
    (0xF8000, 0x1000_1014, "UICR"), (0x1000, 0x00FF_8000, "UICR"), (0, 0x00FF_D000, "UICR"),
    (0x0100_0000, 0x01FF_8000, "UICR"), (0x1000, 0x1200_0000, "external flash (QSPI)"),
    (0x1000, 0x1000_0000, "external flash (QSPI)"),
    (0x0800_0000, 0x1FFF_C000, "option bytes, OTP and system memory"),
    (0x0800_0000, 0x9000_0000, "external flash (QSPI)"),
    (0, 0x0FE0_0000, "user data, lock bits and device information"),
    (0, 0x4E02_0000, "CCFG"),
  ]

  @Test("data that updates never write is excluded and reported", arguments: known)
  func leftOut(firmware: UInt32, other: UInt32, name: String) throws {
    let image = try Self.image([(other, [9, 9]), (firmware, [1, 2])])
    #expect(image.bytes == [1, 2])
    #expect(image.layout?.lowestAddress == firmware)
    #expect(image.layout?.dataCount == 2)
    let left = try #require(image.layout?.leftOut.first)
    #expect(image.layout?.leftOut.count == 1)
    #expect(left.known?.name == name)
    #expect(left.known?.source.isEmpty == false)
    #expect(left.dataCount == 2)
    let there = UInt64(other)..<(UInt64(other) + 2)
    #expect(left.region.range == there)
    let chosen = try Self.image(
      [(other, [9, 9]), (firmware, [1, 2])], AddressRegion(there))
    #expect(chosen.bytes == [9, 9])
    #expect(chosen.layout?.leftOut.map(\.known) == [nil])
  }

  @Test("a SoftDevice is sent without the master boot record below it")
  func masterBootRecord() throws {
    let magic: [UInt8] = [0xDB, 0xE5, 0xB1, 0x51]
    let image = try Self.image([(0, [7, 7]), (0x1000, [1]), (0x3004, magic)])
    #expect(image.layout?.lowestAddress == 0x1000)
    #expect(image.bytes.count == 0x2008)
    #expect(image.layout?.leftOut.map { $0.known?.name } == ["master boot record"])
    // An nRF51 file from the time before the information structure had a magic.
    let old = try Self.image([(0, [7, 7]), (0x1000, [1]), (0x1000_1000, [0, 0x40, 1, 0])])
    #expect(old.bytes == [1])
    #expect(old.layout?.leftOut.map { $0.known?.name } == ["master boot record", "UICR"])
    // Without a SoftDevice, this data is the application's vector table.
    let plain = try Self.image([(0, [7, 7]), (0x1000, [1])])
    #expect(plain.layout?.lowestAddress == 0)
    #expect(plain.layout?.leftOut == [])
  }

  @Test("an address has different meanings on different chips")
  func otherChips() throws {
    // Flash of an RP2040 at the address of UICR in Nordic chips.
    let image = try Self.image([(0x1000_0000, [1]), (0x1000_1014, [2])])
    #expect(image.bytes.count == 0x1015)
    #expect(image.layout?.leftOut == [])
  }

  @Test("unknown data in distant regions is refused, and each region can be selected")
  func farApart() throws {
    let places: [(UInt32, [UInt8])] = [(0x1000, [1, 2]), (0x6000_0000, [3, 4, 5])]
    let first = try Self.region("0x1000..0x1002")
    let second = try Self.region("0x60000000..0x60000003")
    let fault = AddressFault.farApart([
      .init(region: first, dataCount: 2), .init(region: second, dataCount: 3),
    ])
    #expect(throws: FirmwareFault.addresses(fault)) { try Self.image(places) }
    #expect(fault.places.map(\.region) == [second, first])
    #expect(try Self.image(places, first).bytes == [1, 2])
    #expect(try Self.image(places, second).bytes == [3, 4, 5])
    #expect(try Self.image(places, Self.region("0x1001..0x60000000")).bytes == [2])
    #expect(try Self.image(places, Self.region("0x6000000..0x60000002")).bytes == [3, 4])
    let none = try Self.region("0x2000..0x3000")
    #expect(throws: FirmwareFault.addresses(.nothingIn(none, fault.places.reversed()))) {
      try Self.image(places, none)
    }
  }

  @Test("a file of only excluded data is not an image; a binary has no region")
  func nothingElse() throws {
    let own = try Self.region("0..0x1000")
    #expect(throws: FirmwareFault.addresses(.noAddresses)) {
      try FirmwareImage.decode(name: "a.bin", bytes: [1, 2, 3], region: own)
    }
    let whole = try Self.region("0..0x2000001")
    let wide: [(UInt32, [UInt8])] = (0...8).map { ($0 * 0x40_0000, [1]) }
    #expect(throws: FirmwareFault.addresses(.spanTooLarge(whole, limit: 1 << 20))) {
      try FirmwareImage.decode(name: "a.hex", bytes: Self.hex(wide), limit: 1 << 20)
    }
  }

  @Test("every known region has a name, its families and a source")
  func table() {
    for known in KnownRegion.all {
      #expect(![known.name, known.families, known.source].contains(""))
    }
  }
}
