import OtaflashFirmware
import Testing

@Suite("Legacy DFU packages")
struct LegacyPackageTests {
  /// The content of a package according to adafruit-nrfutil.
  private struct Said: Decodable {
    let dfuVersion: Double
    let parts: [String: Part]

    struct Part: Decodable {
      let binFile: String
      let sdSize: UInt32?
      let blSize: UInt32?
      let deviceType: UInt16
      let deviceRevision: UInt16
      let applicationVersion: UInt32
      let softdeviceReq: [UInt16]
      let extPacketId: UInt32?
      let firmwareLength: UInt32?
      let firmwareHash: String?
      let firmwareCrc16: UInt16?
      let initPacketEcds: String?
    }
  }

  private static func legacy(_ image: FirmwareImage) throws -> LegacyInitPacket {
    guard case .legacy(let packet) = try #require(image.initPacket).command else {
      throw InitPacketFault.empty
    }
    return packet
  }

  private static func package(dat: [UInt8], bin: [UInt8]) throws -> FirmwarePackage {
    let manifest = """
      {"manifest": {"dfu_version": 0.8, "application": {"bin_file": "a.bin", "dat_file": "a.dat"}}}
      """
    let archive = StoredZip([
      ("manifest.json", Array(manifest.utf8)), ("a.bin", bin), ("a.dat", dat),
    ])
    return try FirmwarePackage.decode(name: "a.zip", bytes: archive.bytes)
  }

  @Test("init packets of every version are decoded as in the tool that created them")
  func display() throws {
    let said: [String: Said] = try Fixture.json("Nordic/adafruit.json")
    #expect(said.count == 10)
    #expect(Set(said.values.map(\.dfuVersion)) == [0.5, 0.6, 0.7, 0.8])
    for (name, expected) in said {
      let package = try Fixture.package("Nordic/\(name).zip")
      #expect(package.kind == .nordicLegacyDFU)
      #expect(package.parts.count == expected.parts.count, "\(name)")
      for part in package.parts {
        let initPacket = try #require(part.initPacket)
        let said = try #require(expected.parts[initPacket.role.rawValue], "\(name)")
        #expect(part.name == said.binFile)
        if let softdevice = said.sdSize, let bootloader = said.blSize {
          let sizes = NordicSizes(softdevice: softdevice, bootloader: bootloader)
          #expect(initPacket.sizes == sizes, "\(name)")
        }
        Self.compare(try Self.legacy(part), with: said, in: name)
      }
      #expect(throws: Never.self) { try package.checkIntegrity() }
    }
  }

  private static func compare(_ packet: LegacyInitPacket, with said: Said.Part, in name: String) {
    #expect(packet.deviceType == said.deviceType, "\(name)")
    #expect(packet.deviceRevision == said.deviceRevision, "\(name)")
    #expect(packet.applicationVersion == said.applicationVersion, "\(name)")
    #expect(packet.softdevices == said.softdeviceReq, "\(name)")
    #expect(packet.extensionNumber == said.extPacketId, "\(name)")
    switch packet.integrity {
    case .crc16(let crc):
      #expect(crc == said.firmwareCrc16, "\(name)")
      #expect(said.firmwareHash == nil && said.firmwareLength == nil)
    case .sha256(let hash, let size, let signature):
      #expect(hash.hex == said.firmwareHash, "\(name)")
      #expect(size == said.firmwareLength, "\(name)")
      #expect(signature?.hex == said.initPacketEcds, "\(name)")
    }
  }

  @Test("SoftDevice and bootloader are sent before the application, with the manifest's sizes")
  func everything() throws {
    for name in ["legacy-everything", "legacy-everything-0.8"] {
      let package = try Fixture.package("Nordic/\(name).zip")
      #expect(
        package.parts.map { $0.initPacket?.role } == [.softdeviceAndBootloader, .application])
      #expect(
        package.parts[0].initPacket?.sizes == NordicSizes(softdevice: 320, bootloader: 260))
    }
  }

  @Test("a signature matches only its key, and an unsigned packet matches no key")
  func signatures() throws {
    let key = try Fixture.key("Nordic/legacy")
    for name in ["legacy-0.8", "legacy-everything-0.8"] {
      let package = try Fixture.package("Nordic/\(name).zip")
      #expect(throws: Never.self) { try package.checkSignatures(by: key) }
      let stranger = #expect(throws: PartFault.self) {
        try package.checkSignatures(by: Fixture.key("Nordic/ecdsa-p256"))
      }
      #expect(stranger?.fault == .signatureWrong)
      let other = #expect(throws: PartFault.self) {
        try package.checkSignatures(by: Fixture.key("Nordic/ed25519"))
      }
      #expect(other?.fault.isAboutTheKey == true)
    }
    for (name, fault) in [
      ("legacy-0.5", ProofFault.notSignable), ("legacy-0.6", .notSignable),
      ("legacy-0.7", .unsigned),
    ] {
      let part = try Fixture.image("Nordic/\(name).zip")
      #expect(throws: fault) { try part.checkSignature(by: key) }
    }
  }

  @Test("a changed bit in a signed packet or its firmware is detected")
  func everyByte() throws {
    let key = try Fixture.key("Nordic/legacy")
    let part = try Fixture.image("Nordic/legacy-0.8.zip")
    let dat = try #require(part.initPacket).bytes
    for index in dat.indices {
      let changed = dat.replacing(index, by: dat[index] ^ 1 << UInt8(index % 8))
      #expect(throws: (any Error).self, "byte \(index)") {
        try Self.package(dat: changed, bin: part.bytes).checkSignatures(by: key)
      }
    }
    for index in stride(from: 0, to: part.bytes.count, by: 7) {
      let changed = part.bytes.replacing(index, by: part.bytes[index] ^ 0x10)
      #expect(throws: PartFault.self, "byte \(index)") {
        try Self.package(dat: dat, bin: changed).checkIntegrity()
      }
    }
  }

  @Test("a packet for firmware of another size is refused")
  func size() throws {
    let part = try Fixture.image("Nordic/legacy-0.7.zip")
    let dat = try #require(part.initPacket).bytes
    #expect(
      throws: FirmwareFault.manifest(
        .contradicted(
          file: "a.dat", "the init packet is for 500 bytes, the firmware file has 499"))
    ) { try Self.package(dat: dat, bin: part.bytes.dropLast()) }
  }

  @Test("a truncated packet is refused or belongs to another firmware")
  func truncated() throws {
    for name in ["legacy-0.5", "legacy-0.6", "legacy-0.7", "legacy-0.8"] {
      let part = try Fixture.image("Nordic/\(name).zip")
      let whole = try Self.legacy(part)
      let dat = try #require(part.initPacket).bytes
      for count in 0..<dat.count {
        // A truncated packet may end with a valid CRC16, so only the check of the firmware detects
        // the truncation.
        guard let cut = try? LegacyInitPacket(decoding: Array(dat.prefix(count))) else { continue }
        #expect(cut.integrity != whole.integrity)
      }
    }
  }

  /// Devices read the fields in sequence, so no field can be omitted.
  @Test("a packet without one of its fields is refused")
  func fieldLeftOut() throws {
    #expect(
      throws: FirmwareFault.initPacket(
        file: "app.dat",
        .field("SoftDevice ids", offset: 8, "do not fit into the 128 bytes of a packet"))
    ) { try Fixture.package("Nordic/legacy-no-type.zip") }
  }

  /// The only limit is the buffer of a bootloader, which has 128 bytes.
  @Test("a packet of 128 bytes is decoded, with all its SoftDevice ids")
  func longest() throws {
    let ids = [UInt8](repeating: 0x64, count: 2 * 58)
    let packet = [UInt8](hex: "5200 0300 09000000 3A00") + ids + [UInt8](hex: "3412")
    #expect(packet.count == 128)
    #expect(try LegacyInitPacket(decoding: packet).softdevices.count == 58)
  }

  @Test("malformed packets are refused with the offset")
  func nonsense() throws {
    let hash = [UInt8](repeating: 7, count: 32)
    let signature = [UInt8](repeating: 9, count: 64)
    let bytes =
      [UInt8](hex: "5200 0300 09000000 0100 FEFF 02000000 F4010000") + hash + signature
    let packet = try LegacyInitPacket(decoding: bytes)
    #expect(packet.integrity == .sha256(hash, firmwareSize: 500, signature: signature))
    #expect(packet.extensionNumber == 2)
    #expect(throws: InitPacketFault.wrongLength(expected: 116, found: 115)) {
      try LegacyInitPacket(decoding: bytes.dropLast())
    }
    #expect(throws: InitPacketFault.value("extension", 3, offset: 12)) {
      try LegacyInitPacket(decoding: bytes.replacing(12, by: 3))
    }
    #expect(
      throws: InitPacketFault.field(
        "SoftDevice ids", offset: 8, "do not fit into the 128 bytes of a packet")
    ) { try LegacyInitPacket(decoding: bytes.replacing(8, by: 59)) }
  }
}
