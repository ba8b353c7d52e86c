import Testing

@testable import OtaflashFirmware

/// Tests of the format of images for Telink chips.
@Suite struct TelinkImageTests {
  /// The smallest image of the check values: 64 bytes with mark and size, and the trailer.
  private static let smallest: [UInt8] = {
    var bytes = [UInt8](repeating: 0, count: 64)
    bytes.replaceSubrange(8..<12, with: [0x4B, 0x4E, 0x4C, 0x54])
    bytes[0x18] = 68
    return bytes + [0xAF, 0x65, 0x8C, 0xB9]
  }()

  @Test func theChecksumMatchesItsCheckValue() {
    #expect(TelinkImage.checksum(of: Array("123456789".utf8)) == 0x340B_C6D9)
  }

  @Test func anImageIsRecognized() throws {
    let image = try FirmwareImage.decode(name: "app.bin", bytes: Self.smallest)
    #expect(image.telink?.checksum == 0xB98C_65AF)
    #expect(try image.checkIntegrity() == .whole("CRC32"))
    #expect(image.foreignContent == nil)
  }

  private static func fault(_ bytes: [UInt8]) -> TelinkImageFault? {
    do throws(FirmwareFault) {
      _ = try FirmwareImage.decode(name: "app.bin", bytes: bytes)
    } catch .telink(let fault) {
      return fault
    } catch {
      return nil
    }
    return nil
  }

  /// A build before Telink's tool has run: the trailer is missing.
  @Test func aBuildWithoutATrailerIsRefused() throws {
    var raw = Array(Self.smallest.dropLast(4))
    #expect(Self.fault(raw) == .trailerMissing(found: 64))
    raw[0x18] = 64
    #expect(Self.fault(raw) == .trailerMissing(found: 64))
    #expect(FirmwareFault.telink(.trailerMissing(found: 64)).remedy == .buildAgain)
    #expect("\(FirmwareFault.telink(.trailerMissing(found: 64)))".contains("CRC32 at the end"))
  }

  @Test(arguments: [12, 20, 27, 31])
  func aFileThatEndsInTheHeaderIsRefused(_ count: Int) {
    #expect(Self.fault(Array(Self.smallest.prefix(count))) == .cutOff(found: count))
  }

  /// Each single changed byte is detected, except in the mark, which identifies the format.
  @Test func everyChangedByteIsDetected() {
    for index in Self.smallest.indices where !(8..<12).contains(index) {
      var bytes = Self.smallest
      bytes[index] ^= 0x10
      #expect(Self.fault(bytes) != nil, "byte \(index)")
    }
  }

  @Test func aWrongSizeIsRefused() {
    var bytes = Array(Self.smallest.dropLast(4))
    bytes[0x18] = 84
    let crc = TelinkImage.checksum(of: bytes)
    let file = bytes + (0..<4).map { UInt8(truncatingIfNeeded: crc >> (8 * $0)) }
    #expect(Self.fault(file) == .sizeDiffers(stated: 84, found: 68))
  }

  /// Some vendors append a signature, which their own tools handle.
  @Test func dataAfterTheImageIsRefused() {
    for count in [1, 12, 16, 1344] {
      let file = Self.smallest + [UInt8](repeating: 0x5C, count: count)
      #expect(Self.fault(file) == .sizeDiffers(stated: 68, found: 68 + count))
    }
  }

  @Test func aSizeThatDevicesRejectIsRefused() {
    var bytes = Array(Self.smallest.dropLast(4)) + [0, 0, 0, 0]
    bytes[0x18] = 72
    let crc = TelinkImage.checksum(of: bytes)
    let file = bytes + (0..<4).map { UInt8(truncatingIfNeeded: crc >> (8 * $0)) }
    #expect(Self.fault(file) == .wrongGranularity(found: 72))
  }
}
