import OtaflashFirmware
import Testing

@Suite("Firmware images")
struct FirmwareImageTests {
  private static let hex = Array(":0100000001FE\n:00000001FF\n".utf8)
  private static let described = ImageDescriptor(
    version: FirmwareVersion(1, 3, 0), hardware: HardwareID(0xA001)
  ).encoded

  @Test("the format is detected from the content")
  func format() throws {
    let binary = try FirmwareImage.decode(name: "a.bin", bytes: [0x3A, 0x00, 0x01])
    #expect(binary.format == .binary)
    #expect(binary.bytes == [0x3A, 0x00, 0x01])
    #expect(binary.layout == nil)
    for name in ["a.bin", "-", "a.hex", "A.HEX"] {
      let image = try FirmwareImage.decode(name: name, bytes: Self.hex)
      #expect(image.format == .intelHex)
      #expect(image.bytes == [1])
      #expect(image.layout?.lowestAddress == 0)
    }
    #expect(try FirmwareImage.decode(name: "a", bytes: Array("\r\n".utf8) + Self.hex).bytes == [1])
  }

  @Test("a file with the content or the name of a HEX file is never sent as a binary")
  func damagedHex() {
    #expect(throws: FirmwareFault.malformed(.intelHex(.line(1, .notHexadecimal(0x7A, column: 2)))))
    {
      try FirmwareImage.decode(name: "-", bytes: Array(":z100000001FE\n".utf8))
    }
    #expect(throws: FirmwareFault.malformed(.intelHex(.line(1, .noRecordMark(found: 0x3C))))) {
      try FirmwareImage.decode(name: "a.hex", bytes: Array("<html>".utf8))
    }
    // In UTF-16 each character has two bytes.
    let wide: [UInt8] = [0xFF, 0xFE] + Self.hex.flatMap { [$0, 0] as [UInt8] }
    for name in ["a.hex", "-"] {
      #expect(throws: FirmwareFault.foreignFormat(.utf16)) {
        try FirmwareImage.decode(name: name, bytes: wide)
      }
    }
  }

  @Test("a UTF-8 byte order mark is ignored")
  func byteOrderMark() throws {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    #expect(try FirmwareImage.decode(name: "-", bytes: mark + Self.hex).bytes == [1])
    let records = Array("S10500100102E7\nS9030000FC\n".utf8)
    #expect(try FirmwareImage.decode(name: "-", bytes: mark + records).bytes == [1, 2])
  }

  @Test("an archive without files is reported, not sent")
  func foreign() {
    #expect(throws: FirmwareFault.foreignFormat(.emptyZip)) {
      try FirmwareImage.decode(name: "a.bin", bytes: [0x50, 0x4B, 5, 6, 0])
    }
  }

  @Test(
    "S-records are detected by name or first line, and never sent as a binary",
    arguments: ["a.s19", "A.SREC", "a.mot", "a.bin", "-"])
  func sRecords(_ name: String) throws {
    let text = "S00600004844521B\r\nS10500100102E7\r\nS9030000FC\r\n"
    let image = try FirmwareImage.decode(name: name, bytes: Array(text.utf8))
    #expect(image.format == .sRecord)
    #expect(image.bytes == [1, 2])
  }

  @Test(
    "a damaged first line of S-records is reported for every file name",
    arguments: [
      ("S0G600004844521B\n", SRecordFault.notHexadecimal(UInt8(ascii: "G"), column: 3)),
      ("S4030000FC\n", .unknownType(UInt8(ascii: "4"))),
      ("S1050010010203E4\n", .wrongLength(stated: 5, found: 6)),
    ] as [(String, SRecordFault)])
  func damagedSRecords(_ text: String, _ fault: SRecordFault) {
    #expect(throws: FirmwareFault.malformed(.sRecord(.line(1, fault)))) {
      try FirmwareImage.decode(name: "a.bin", bytes: Array(text.utf8))
    }
  }

  @Test("files that start like ELF, UF2 or ZIP files are never sent as a binary")
  func damagedFormats() {
    #expect(throws: FirmwareFault.malformed(.elf(.headerCutOff(found: 7)))) {
      try FirmwareImage.decode(name: "a.bin", bytes: [0x7F, 0x45, 0x4C, 0x46, 1, 1, 1])
    }
    #expect(throws: FirmwareFault.malformed(.uf2(.cutOff(size: 5)))) {
      try FirmwareImage.decode(name: "a.bin", bytes: Array("UF2\nW".utf8))
    }
    #expect(throws: FirmwareFault.self) {
      try FirmwareImage.decode(name: "a.bin", bytes: [0x50, 0x4B, 3, 4, 0])
    }
  }

  @Test("an MCUboot header and a descriptor must not contradict each other")
  func header() throws {
    let header: [UInt8] = [
      0x3D, 0xB8, 0xF3, 0x96, 0, 0, 0, 0, 32, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 1, 3, 0, 0, 9, 0, 0,
      0, 0, 0, 0, 0,
    ]
    let bytes = header + Self.described + [0x07, 0x69, 4, 0]
    let image = try FirmwareImage.decode(name: "a", bytes: bytes)
    #expect(image.version == FirmwareVersion(1, 3, 0))
    #expect(image.mcuboot?.version.build == 9)
    #expect(image.hardware == HardwareID(0xA001))
    let newer = Array(bytes[..<21]) + [4] + Array(bytes[22...])
    let fault = FirmwareFault.headerContradicted(
      header: FirmwareVersion(1, 4, 0), descriptor: FirmwareVersion(1, 3, 0))
    #expect(throws: fault) { try FirmwareImage.decode(name: "a", bytes: newer) }
    #expect(
      throws: FirmwareFault.versionContradicted(
        sidecar: FirmwareVersion(2, 0, 0), descriptor: FirmwareVersion(1, 3, 0))
    ) {
      try FirmwareImage.decode(
        name: "a", bytes: bytes, sidecar: ImageIdentity(version: FirmwareVersion(2, 0, 0)))
    }
  }

  @Test("empty and too large images are refused; an image at the limit is accepted")
  func limits() throws {
    #expect(throws: FirmwareFault.empty) { try FirmwareImage.decode(name: "a", bytes: []) }
    #expect(try FirmwareImage.decode(name: "a", bytes: [1, 2], limit: 2).bytes.count == 2)
    #expect(throws: FirmwareFault.tooLarge(limit: 2)) {
      try FirmwareImage.decode(name: "a", bytes: [1, 2, 3], limit: 2)
    }
  }

  @Test("the command line has priority over the sidecar, and the sidecar over the descriptor")
  func precedence() throws {
    let sidecar = ImageIdentity(version: FirmwareVersion(1, 3, 0))
    let image = try FirmwareImage.decode(name: "a", bytes: Self.described, sidecar: sidecar)
    #expect(image.version == FirmwareVersion(1, 3, 0))
    #expect(image.hardware == HardwareID(0xA001))
    let bare = try FirmwareImage.decode(name: "a", bytes: [1], sidecar: sidecar)
    #expect(bare.version == FirmwareVersion(1, 3, 0))
    #expect(bare.hardware == nil)
    let overridden = try FirmwareImage.decode(
      name: "a", bytes: Self.described,
      sidecar: ImageIdentity(version: FirmwareVersion(9, 9, 9), hardware: HardwareID(0xA001)),
      overrides: ImageIdentity(version: FirmwareVersion(2, 0, 0)))
    #expect(overridden.version == FirmwareVersion(2, 0, 0))
    #expect(overridden.hardware == HardwareID(0xA001))
  }

  @Test("an image for any board can be restricted to one board")
  func anyBoard() throws {
    let bytes = ImageDescriptor(version: FirmwareVersion(1, 3, 0), hardware: nil).encoded
    #expect(try FirmwareImage.decode(name: "a", bytes: bytes).hardware == .any)
    let narrowed = try FirmwareImage.decode(
      name: "a", bytes: bytes, sidecar: ImageIdentity(hardware: HardwareID(0xA001)))
    #expect(narrowed.hardware == HardwareID(0xA001))
    let said = try FirmwareImage.decode(
      name: "a", bytes: [1], sidecar: ImageIdentity(hardware: .any))
    #expect(said.hardware == .any)
  }

  @Test("sidecar and descriptor must not contradict each other")
  func contradiction() {
    #expect(
      throws: FirmwareFault.versionContradicted(
        sidecar: FirmwareVersion(1, 4, 0), descriptor: FirmwareVersion(1, 3, 0))
    ) {
      try FirmwareImage.decode(
        name: "a", bytes: Self.described,
        sidecar: ImageIdentity(version: FirmwareVersion(1, 4, 0)),
        overrides: ImageIdentity(hardware: HardwareID(1)))
    }
    #expect(
      throws: FirmwareFault.hardwareContradicted(
        sidecar: HardwareID(0xB002), descriptor: HardwareID(0xA001))
    ) {
      try FirmwareImage.decode(
        name: "a", bytes: Self.described, sidecar: ImageIdentity(hardware: HardwareID(0xB002)))
    }
  }

  @Test("a damaged descriptor is a fault unless both values are overridden")
  func damagedDescriptor() throws {
    let damaged = Array(Self.described.dropLast()) + [0]
    let version = FirmwareVersion(1, 0, 0)
    #expect(throws: FirmwareFault.descriptorDamaged(offset: 0)) {
      try FirmwareImage.decode(
        name: "a", bytes: damaged, overrides: ImageIdentity(version: version))
    }
    let image = try FirmwareImage.decode(
      name: "a", bytes: damaged,
      overrides: ImageIdentity(version: version, hardware: HardwareID(0xA001)))
    #expect(image.version == version)
  }

  @Test("versions and hardware ids are parsed strictly")
  func texts() {
    #expect(FirmwareVersion("255.255.65535") == FirmwareVersion(255, 255, 65535))
    for text in [
      "", "1", "1.2", "1.2.3.4", "1.2.x", "256.0.0", "0.0.65536", "-0.1.2", "+1.0.0", "1..2",
    ] {
      #expect(FirmwareVersion(text) == nil, "\(text)")
    }
    #expect(HardwareID("0x0000A001") == HardwareID(0xA001))
    #expect(HardwareID("40961") == HardwareID(0xA001))
    for text in ["", "0x", "A001", "0x1_0", "-0", "0x+1", "0x100000000"] {
      #expect(HardwareID(text) == nil, "\(text)")
    }
    #expect(HardwareID(0xA001).description == "0x0000A001")
  }
}
