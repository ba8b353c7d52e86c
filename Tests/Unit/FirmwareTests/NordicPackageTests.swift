import OtaflashFirmware
import Testing

@Suite("Nordic DFU packages")
struct NordicPackageTests {
  /// The content of an init packet according to nrfutil.
  private struct Said: Decodable {
    let fwVersion: UInt32
    let hwVersion: UInt32
    let sdReq: [UInt32]
    let type: UInt64
    let sdSize: UInt32
    let blSize: UInt32
    let appSize: UInt32
    let hash: String
    let isDebug: Bool
    let bootValidation: [UInt64]
    let signature: String?
  }

  private static func secure(_ image: FirmwareImage) throws -> SecureInitPacket {
    let packet = try #require(image.initPacket)
    guard case .secure(let command) = packet.command else {
      throw InitPacketFault.empty
    }
    return command
  }

  /// Returns a package with one firmware file of the given role and content.
  private static func package(
    dat: [UInt8], bin: [UInt8], role: String = "application"
  ) throws -> FirmwarePackage {
    let manifest = """
      {"manifest": {"\(role)": {"bin_file": "a.bin", "dat_file": "a.dat"}}}
      """
    let archive = StoredZip([
      ("manifest.json", Array(manifest.utf8)), ("a.bin", bin), ("a.dat", dat),
    ])
    return try FirmwarePackage.decode(name: "a.zip", bytes: archive.bytes)
  }

  @Test("init packets are decoded as in nrfutil")
  func display() throws {
    let said: [String: [String: Said]] = try Fixture.json("Nordic/nrfutil.json")
    #expect(said.count == 6)
    for (name, packets) in said {
      let package = try Fixture.package("Nordic/\(name).zip")
      #expect(package.kind == .nordicSecureDFU)
      #expect(package.parts.count == packets.count)
      for part in package.parts {
        let said = try #require(packets[part.name.replacing(".bin", with: ".dat")])
        let read = try Self.secure(part)
        #expect(read.firmwareVersion == said.fwVersion, "\(name)")
        #expect(read.hardwareVersion == said.hwVersion, "\(name)")
        #expect(read.requiredSoftdevices == said.sdReq, "\(name)")
        #expect(read.content.rawValue == said.type, "\(name)")
        #expect(
          read.sizes
            == NordicSizes(
              softdevice: said.sdSize, bootloader: said.blSize, application: said.appSize))
        #expect(read.hashAlgorithm == .sha256)
        #expect(read.hash.hex == said.hash, "\(name)")
        #expect(read.isDebug == said.isDebug, "\(name)")
        #expect(read.bootValidations.map(\.kind.rawValue) == said.bootValidation, "\(name)")
        #expect(read.signature?.bytes.hex == said.signature, "\(name)")
      }
      #expect(throws: Never.self) { try package.checkIntegrity() }
    }
  }

  @Test("SoftDevice and bootloader are sent before the application")
  func order() throws {
    let package = try Fixture.package("Nordic/everything.zip")
    #expect(package.parts.map { $0.initPacket?.role } == [.softdeviceAndBootloader, .application])
    #expect(package.parts.map(\.bytes.count) == [580, 500])
    #expect(
      package.parts[0].initPacket?.sizes == NordicSizes(softdevice: 320, bootloader: 260))
    #expect(throws: FirmwareFault.severalImages(2)) { try package.onlyImage() }
  }

  @Test("signatures of both algorithms pass only with their key")
  func signatures() throws {
    let ecdsa = try Fixture.key("Nordic/ecdsa-p256")
    let ed25519 = try Fixture.key("Nordic/ed25519")
    let stranger = try Fixture.key("MCUboot/ecdsa-p256")
    for name in ["app-signed", "app-debug", "everything", "bootloader"] {
      let package = try Fixture.package("Nordic/\(name).zip")
      #expect(throws: Never.self) { try package.checkSignatures(by: ecdsa) }
      let fault = #expect(throws: PartFault.self) { try package.checkSignatures(by: stranger) }
      #expect(fault?.fault == .signatureWrong)
      let other = #expect(throws: PartFault.self) { try package.checkSignatures(by: ed25519) }
      #expect(other?.fault.isAboutTheKey == true)
    }
    let package = try Fixture.package("Nordic/app-ed25519.zip")
    #expect(throws: Never.self) { try package.checkSignatures(by: ed25519) }
    let unsigned = try Fixture.package("Nordic/app-unsigned.zip")
    let fault = #expect(throws: PartFault.self) { try unsigned.checkSignatures(by: ecdsa) }
    #expect(fault?.fault == .unsigned)
    #expect(fault?.part == "app.bin")
  }

  @Test("a changed bit in firmware or init packet is detected")
  func everyByte() throws {
    let key = try Fixture.key("Nordic/ecdsa-p256")
    let part = try Fixture.package("Nordic/app-signed.zip").onlyImage()
    let dat = try #require(part.initPacket).bytes
    for index in stride(from: 0, to: part.bytes.count, by: 7) {
      let changed = part.bytes.replacing(index, by: part.bytes[index] ^ 0x10)
      let package = try Self.package(dat: dat, bin: changed)
      let fault = #expect(throws: PartFault.self) { try package.checkIntegrity() }
      guard case .hashDiffers = fault?.fault else {
        Issue.record("byte \(index): \(String(describing: fault))")
        return
      }
    }
    for index in dat.indices {
      let changed = dat.replacing(index, by: dat[index] ^ 1 << UInt8(index % 8))
      #expect(throws: (any Error).self, "byte \(index)") {
        try Self.package(dat: changed, bin: part.bytes).checkSignatures(by: key)
      }
    }
  }

  @Test("a truncated init packet is refused")
  func truncated() throws {
    let dat = try #require(
      Fixture.package("Nordic/app-signed.zip").onlyImage().initPacket
    ).bytes
    for count in 0..<dat.count {
      #expect(throws: InitPacketFault.self, "\(count)") {
        try SecureInitPacket(decoding: Array(dat.prefix(count)))
      }
    }
  }

  @Test(
    "malformed packets are refused with the offset",
    arguments: [
      ("", .empty),
      ("08", .notProtobuf(offset: 1, "a number is truncated")),
      ("00 00", .notProtobuf(offset: 0, "the field number 0 is not possible")),
      ("0B", .notProtobuf(offset: 0, "wire type 3 is not used")),
      ("0A FF 01", .notProtobuf(offset: 0, "the field has 255 bytes, only 0 are left")),
      (
        "0A FF FF FF FF FF FF FF FF FF 01",
        .notProtobuf(offset: 0, "the field has 18446744073709551615 bytes, only 0 are left")
      ),
      (
        "0A FF FF FF FF FF FF FF FF FF 02",
        .notProtobuf(offset: 1, "a number has more than 64 bits")
      ),
      ("09 00", .notProtobuf(offset: 0, "the field is truncated")),
      ("08 01", .field("command", offset: 0, "is not a byte string")),
      ("0A 00 0A 00", .field("command", offset: 2, "occurs twice")),
      ("0A 00 12 00", .field("signed_command", offset: 0, "occurs next to an unsigned command")),
      ("0A 00", .field("op_code", offset: 2, "is missing")),
      ("0A 02 08 01", .field("init", offset: 2, "is missing")),
      ("0A 02 08 00", .value("op_code", 0, offset: 2)),
      ("0A 04 08 01 12 00", .field("type", offset: 6, "is missing")),
      ("0A 06 08 01 12 02 20 05", .value("type", 5, offset: 6)),
      (
        "0A 0B 08 01 12 07 08 FF FF FF FF 7F 20 00",
        .notProtobuf(offset: 4, "the field has 7 bytes, only 7 are left")
      ),
    ] as [(String, InitPacketFault)])
  func nonsense(hex: String, fault: InitPacketFault) {
    // The last packet is complete, but its number is too large.
    let expected = hex.hasPrefix("0A 0B") ? nil : fault
    let found = #expect(throws: InitPacketFault.self) {
      try SecureInitPacket(decoding: [UInt8](hex: hex))
    }
    if let expected { #expect(found == expected) }
  }

  @Test("inconsistent packages are refused")
  func contradictions() throws {
    let part = try Fixture.package("Nordic/app-signed.zip").onlyImage()
    let dat = try #require(part.initPacket).bytes
    #expect(
      throws: FirmwareFault.initPacket(
        file: "a.dat", .roleDiffers(packet: .application, manifest: .bootloader))
    ) { try Self.package(dat: dat, bin: part.bytes, role: "bootloader") }
    #expect(
      throws: FirmwareFault.manifest(
        .contradicted(
          file: "a.dat", "sizes add up to 500 bytes, the firmware file has 499"))
    ) { try Self.package(dat: dat, bin: part.bytes.dropLast()) }
    #expect(throws: FirmwareFault.inFile("a.bin", .empty)) {
      try Self.package(dat: dat, bin: [])
    }
    #expect(throws: FirmwareFault.initPacket(file: "a.dat", .tooLarge(limit: 512))) {
      try Self.package(dat: [UInt8](repeating: 0, count: 513), bin: [1])
    }
  }

  @Test("CRC16 has its check value")
  func crc16() {
    #expect(CRC16.checksum(Array("123456789".utf8)) == 0x29B1)
  }
}
