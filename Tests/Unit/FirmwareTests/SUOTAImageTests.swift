import Testing

@testable import OtaflashFirmware

/// Tests of the format of images for chips of Renesas.
@Suite struct SUOTAImageTests {
  /// The code of the check values: `123456789`, whose CRC32 is CBF43926.
  private static let code = Array("123456789".utf8)
  private static let crc: [UInt8] = [0x26, 0x39, 0xF4, 0xCB]
  private static let size: [UInt8] = [9, 0, 0, 0]
  private static let version = Array("1.3.0".utf8) + [UInt8](repeating: 0, count: 11)
  private static let time: [UInt8] = [0x00, 0xF1, 0x53, 0x65]

  private static let blocks =
    [0x70, 0x51, 0xFF, 0] + size + crc + version + time + [UInt8](repeating: 0, count: 32) + code
  private static let stream =
    [0x70, 0x61, 0xFF, 0xFF] + size + crc + version + time + [36, 0, 0, 0] + code
  private static let newest =
    [0x51, 0x71] + size + crc + version + time + [64, 0, 0, 0]
    + [UInt8](repeating: 0xFF, count: 30) + code

  @Test(arguments: [
    (blocks, SUOTAImage.Chip.da1453x, 64), (stream, .da1468x, 36), (newest, .da1469x, 64),
  ])
  func anImageIsRecognized(_ bytes: [UInt8], _ chip: SUOTAImage.Chip, _ offset: Int) throws {
    let image = try FirmwareImage.decode(name: "app.img", bytes: bytes)
    let header = try #require(image.suota)
    #expect(header.chip == chip && header.codeOffset == offset && header.codeSize == 9)
    #expect(header.checksum == 0xCBF4_3926 && header.versionText == "1.3.0")
    #expect(header.timestamp == 0x6553_F100 && !header.isEncrypted)
    #expect(image.version == FirmwareVersion(1, 3, 0))
    #expect(try image.checkIntegrity() == .whole("CRC32"))
    #expect(image.foreignContent == nil)
  }

  private static func fault(_ bytes: [UInt8]) -> SUOTAImageFault? {
    do throws(FirmwareFault) {
      _ = try FirmwareImage.decode(name: "app.img", bytes: bytes)
    } catch .suota(let fault) {
      return fault
    } catch {
      return nil
    }
    return nil
  }

  @Test(arguments: [blocks, stream, newest])
  func aWrongSizeIsRefused(_ bytes: [UInt8]) {
    #expect(Self.fault(bytes + [0]) == .sizeDiffers(stated: bytes.count, found: bytes.count + 1))
    #expect(
      Self.fault(bytes.dropLast()) == .sizeDiffers(stated: bytes.count, found: bytes.count - 1))
  }

  @Test(arguments: [28, 31, 35, 63])
  func aFileThatEndsInTheHeaderIsRefused(_ count: Int) {
    #expect(Self.fault(Array(Self.blocks.prefix(count))) == .cutOff(found: count))
  }

  @Test func damagedCodeIsRefused() {
    var bytes = Self.blocks
    bytes[64] ^= 1
    #expect(
      Self.fault(bytes)
        == .checksumDiffers(
          stated: 0xCBF4_3926, computed: CRC32.checksum(bytes[64...]), offset: 8))
    var outside = Self.newest
    outside[30] = 200
    #expect(Self.fault(outside) == .codeOutside(found: outside.count, offset: 30))
  }

  /// The CRC32 covers the decrypted code.
  @Test func anEncryptedImageIsNotCompared() throws {
    var bytes = Self.blocks
    bytes[32] = 1
    bytes[70] ^= 0xFF
    let image = try FirmwareImage.decode(name: "app.img", bytes: bytes)
    #expect(image.suota?.isEncrypted == true)
    #expect(try image.checkIntegrity() == .encrypted)
  }

  /// The first two bytes also occur in other binaries, such as a vector table.
  @Test func otherBinariesAreNotRecognized() throws {
    for chip in SUOTAImage.Chip.allCases {
      let table: [UInt8] = chip.signature + [0, 0x20, 0xC1, 0x01, 0, 0] + [UInt8](0...200)
      #expect(try FirmwareImage.decode(name: "a.bin", bytes: table).suota == nil)
    }
    for signature in [[0x70, 0x50], [0x70, 0x52], [0x70, 0x62], [0x50, 0x70]] as [[UInt8]] {
      let table: [UInt8] = signature + [0, 0x20] + [UInt8](repeating: 0x5A, count: 9000)
      #expect(try FirmwareImage.decode(name: "a.bin", bytes: table).suota == nil)
    }
  }

  @Test(arguments: [[0x70, 0x50], [0x70, 0x52], [0x70, 0x62], [0x50, 0x70]] as [[UInt8]])
  func aFileForTheCompleteFlashIsRefused(_ signature: [UInt8]) {
    let start = signature + [UInt8](repeating: 0xFF, count: 0x4000 - 2)
    for image in [Self.blocks, Self.stream, Self.newest] {
      #expect(Self.fault(start + image) == .completeFlash(imageOffset: 0x4000))
    }
    let fault = FirmwareFault.suota(.completeFlash(imageOffset: 0x4000))
    #expect(fault.remedy == .chooseAnotherFile && "\(fault)".contains("mkimage single"))
  }

  @Test(arguments: [
    ("v_6.0.14", FirmwareVersion(6, 0, 14)), ("V1.2.3", FirmwareVersion(1, 2, 3)),
    ("6.0.14.1114", nil), ("beta", nil),
  ])
  func versionsWithoutThreeNumbersAreTexts(_ text: String, _ version: FirmwareVersion?) throws {
    var bytes = Self.blocks
    let field = Array(text.utf8) + [UInt8](repeating: 0, count: 16 - text.utf8.count)
    bytes.replaceSubrange(12..<28, with: field)
    let image = try FirmwareImage.decode(name: "app.img", bytes: bytes)
    #expect(image.suota?.versionText == text && image.version == version)
  }
}
