import OtaflashFirmware
import Testing

@Suite("MCUboot images")
struct MCUbootImageTests {
  /// The content of an image according to imgtool.
  private struct Dump: Decodable {
    struct Header: Decodable {
      let loadAddr: UInt32
      let hdrSize: UInt16
      let protectedTlvSize: UInt16
      let imgSize: UInt32
      let flags: UInt32
      let version: String
    }
    enum Field: Decodable, Equatable {
      case type(UInt16)
      case value(String)

      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let type = try? container.decode(UInt16.self) {
          self = .type(type)
        } else {
          self = .value(try container.decode(String.self))
        }
      }
    }

    let header: Header
    let protected: [[Field]]
    let entries: [[Field]]
    let trailer: [String: UInt8]
  }

  private static func fields(_ entries: [MCUbootTLV]) -> [[Dump.Field]] {
    entries.map { [.type($0.type.rawValue), .value($0.value.hex)] }
  }

  /// Returns an image with a header of 32 bytes, no body, and the given areas after the header.
  private static func image(protected: [UInt8] = [], entries: [UInt8] = [0x07, 0x69, 4, 0])
    -> [UInt8]
  {
    [UInt8](hex: "3db8f396 00000000 2000 0000 00000000 00000000 01 02 0300 04000000 00000000")
      .littleEndian(UInt16(protected.count), at: 10) + protected + entries
  }

  @Test("are decoded as in imgtool")
  func dumpinfo() throws {
    let dumps: [String: Dump] = try Fixture.json("MCUboot/dumpinfo.json")
    #expect(dumps.count == 16)
    for (name, dump) in dumps {
      let image = try MCUbootImage(decoding: Fixture.bytes("MCUboot/\(name).bin"))
      #expect(image.header.loadAddress == dump.header.loadAddr, "\(name)")
      #expect(image.header.headerSize == dump.header.hdrSize, "\(name)")
      #expect(image.header.protectedSize == dump.header.protectedTlvSize, "\(name)")
      #expect(image.header.bodySize == dump.header.imgSize, "\(name)")
      #expect(image.header.flags.rawValue == dump.header.flags, "\(name)")
      #expect(image.version == MCUbootVersion(dump.header.version), "\(name)")
      #expect(Self.fields(image.protectedEntries) == dump.protected, "\(name)")
      #expect(Self.fields(image.entries) == dump.entries, "\(name)")
      #expect((image.trailer == nil) == dump.trailer.isEmpty, "\(name)")
      if let imageOK = dump.trailer["image_ok"] {
        #expect(image.trailer?.imageOK == (imageOK == 1 ? .set : .unset), "\(name)")
      }
    }
  }

  @Test("the header's fields have their specified offsets")
  func header() throws {
    let body = [UInt8](repeating: 0xAA, count: 480 + 1000)
    let bytes =
      [UInt8](hex: "3db8f396 00000000 0002 0000 e8030000 00000000 01 02 0300 04000000 00000000")
      + body + [0x07, 0x69, 4, 0]
    let image = try MCUbootImage(decoding: bytes)
    #expect(image.header.headerSize == 512)
    #expect(image.header.bodySize == 1000)
    #expect(image.version == MCUbootVersion(1, 2, 3, build: 4))
    #expect(image.version.description == "1.2.3+4")
    #expect(image.coveredSize == 1512)
    #expect(image.size == 1516)
    #expect(image.hash == nil)
  }

  @Test("every entry of an image is decoded")
  func everyEntry() throws {
    let image = try MCUbootImage(decoding: Fixture.bytes("MCUboot/every-entry.bin"))
    #expect(image.version == MCUbootVersion(255, 254, 65535, build: .max))
    #expect(image.header.loadAddress == 0x2000_0000)
    #expect(image.header.flags == .ramLoad)
    #expect(image.header.flags.words == ["runs from RAM"])
    #expect(image.securityCounter == 7)
    #expect(
      image.dependencies == [
        .init(imageIndex: 1, version: MCUbootVersion(2, 3, 4, build: 5)),
        .init(imageIndex: 2, version: MCUbootVersion(0, 9, 0)),
      ])
    #expect(
      Set(image.protectedEntries.map(\.type)).isSuperset(of: [
        .securityCounter, .bootRecord, .dependency, .vendorID, .classID,
        MCUbootTLVType(rawValue: 0xA5),
      ]))
    #expect(MCUbootTLVType(rawValue: 0xA5).description == "vendor's own 0x00A5")
    #expect(MCUbootTLVType(rawValue: 0x99).description == "unknown 0x0099")
    #expect(image.hash?.algorithm == .sha256)
  }

  /// imgtool was called with `--vid example.com --cid door`.
  @Test("vendor and class match the values of imgtool, and other values are refused")
  func board() throws {
    let image = try Fixture.image("MCUboot/every-entry.bin")
    let vendor = MCUbootIdentifier(name: "example.com", in: .domainNames)
    let door = MCUbootIdentifier(name: "door", in: vendor)
    #expect(image.mcuboot?.vendorID == vendor)
    #expect(image.mcuboot?.classID == door)
    #expect(vendor.description == "cfbff0d1-9375-5685-968c-48ce8b15ae17")
    #expect(MCUbootIdentifier(uuid: "9084B8B952AD588BA7B5874AEF7A7912") == door)
    #expect(MCUbootIdentifier(uuid: door.description) == door)
    for text in [
      "", "door", "9084b8b9-52ad-588b-a7b5-874aef7a791", "9084b8b952ad-588ba7b5874aef7a7912",
    ] {
      #expect(MCUbootIdentifier(uuid: text) == nil, "\(text)")
    }
    func check(_ vendorID: MCUbootIdentifier?, _ classID: MCUbootIdentifier?) throws(BoardFault) {
      try MCUbootBoard(vendorID: vendorID, classID: classID).check(image)
    }
    try check(vendor, door)
    try check(nil, nil)
    #expect(throws: BoardFault.differs(.class, stated: door, wanted: vendor)) {
      try check(vendor, vendor)
    }
    #expect(throws: BoardFault.differs(.vendor, stated: vendor, wanted: door)) {
      try check(door, nil)
    }
    let silent = try Fixture.image("MCUboot/ed25519.bin")
    #expect(throws: BoardFault.notStated(.class)) {
      try MCUbootBoard(vendorID: nil, classID: door).check(silent)
    }
  }

  @Test("the trailer of a padded image states the action of the bootloader")
  func trailers() throws {
    let confirmed = try MCUbootImage(decoding: Fixture.bytes("MCUboot/confirmed.bin"))
    #expect(confirmed.trailer?.alignment == 8)
    #expect(confirmed.trailer?.imageOK == .set)
    #expect(confirmed.trailer?.copyDone == .unset)
    #expect(confirmed.trailer?.swap == MCUbootTrailer.Swap.none)
    let aligned = try MCUbootImage(decoding: Fixture.bytes("MCUboot/test-aligned-32.bin"))
    #expect(aligned.trailer?.alignment == 32)
    #expect(aligned.trailer?.imageOK == .unset)
  }

  @Test("a truncated image is refused with an offset")
  func truncated() throws {
    let whole = try Fixture.bytes("MCUboot/every-entry.bin")
    let size = try MCUbootImage(decoding: whole).size
    #expect(size == whole.count)
    for count in 0..<size {
      let fault = #expect(throws: MCUbootFault.self) {
        try MCUbootImage(decoding: Array(whole.prefix(count)))
      }
      #expect((fault?.offset ?? .max) <= count, "\(count)")
    }
  }

  @Test(
    "damaged headers and areas are refused with their offset",
    arguments: [
      (image().littleEndian(MCUbootHeader.oldMagic, at: 0), .oldFormat),
      (image().replacing(1, by: 0), .wrongMagic(0x96F3_003D)),
      (image().littleEndian(UInt16(31), at: 8), .headerTooShort(stated: 31)),
      (
        image().littleEndian(UInt32.max, at: 12),
        .bodyBeyondEnd(needed: 32 + 0xFFFF_FFFF, found: 36)
      ),
      (image(entries: []), .areaMissing(offset: 32)),
      (
        image(entries: [0x08, 0x69, 4, 0]),
        .wrongAreaMagic(0x6908, expected: 0x6907, offset: 32)
      ),
      (image(entries: [0x07, 0x69, 3, 0]), .areaTooShort(stated: 3, offset: 32)),
      (
        image(entries: [0x07, 0x69, 0xFF, 0xFF]),
        .areaBeyondEnd(stated: 0xFFFF, left: 4, offset: 32)
      ),
      (image(entries: [0x07, 0x69, 7, 0, 1, 0, 0]), .entryCutOff(offset: 36)),
      (
        image(entries: [0x07, 0x69, 9, 0, 1, 0, 0xFF, 0xFF, 0]),
        .entryBeyondArea(.keyHash, length: 0xFFFF, left: 1, offset: 36)
      ),
      (
        image(entries: [0x07, 0x69, 9, 0, 0x10, 0, 1, 0, 0]),
        .wrongLength(.sha256, expected: 32, found: 1, offset: 36)
      ),
      (
        image(protected: [0x08, 0x69, 4, 0, 0x07, 0x69, 4, 0], entries: []),
        .protectedSizesDiffer(header: 8, area: 4, offset: 32)
      ),
      (
        image(
          entries: [0x07, 0x69, 76, 0]
            + ([0x10, 0, 32, 0] + [UInt8](repeating: 1, count: 32))
            + ([0x10, 0, 32, 0] + [UInt8](repeating: 2, count: 32))),
        .secondHash(offset: 72)
      ),
      (
        image(entries: [0x07, 0x69, 8, 2] + [UInt8](repeating: 0, count: 516)),
        .tooManyEntries(limit: 128, offset: 548)
      ),
    ] as [([UInt8], MCUbootFault)])
  func damaged(bytes: [UInt8], fault: MCUbootFault) {
    #expect(throws: fault) { try MCUbootImage(decoding: bytes) }
    #expect(throws: FirmwareFault.mcuboot(fault)) {
      // Without its magic, a file is a raw binary.
      guard case .wrongMagic = fault else {
        _ = try FirmwareImage.decode(name: "a.bin", bytes: bytes)
        return
      }
      throw FirmwareFault.mcuboot(fault)
    }
  }

  @Test("versions are parsed in the notations of imgtool and devices")
  func versions() {
    #expect(MCUbootVersion("1.2.3+4") == MCUbootVersion(1, 2, 3, build: 4))
    #expect(MCUbootVersion("1.2.3.4") == MCUbootVersion(1, 2, 3, build: 4))
    #expect(MCUbootVersion("1.2.3") == MCUbootVersion(1, 2, 3))
    #expect(MCUbootVersion("255.255.65535+4294967295")?.build == .max)
    for text in [
      "", "1.2", "1+2.3", "1.2.3+", "1.2.3+4+5", "256.0.0", "1.2.65536", "-1.2.3", "1.2.3+-4",
      "1.2.3+4294967296", "1..2.3", "1.2+3.4",
    ] { #expect(MCUbootVersion(text) == nil, "\(text)") }
    #expect(MCUbootVersion(1, 2, 3, build: 4) < MCUbootVersion(1, 2, 3, build: 5))
    #expect(MCUbootVersion(1, 2, 3, build: 9) < MCUbootVersion(1, 2, 4))
  }
}
