import Testing

@testable import OtaflashFirmware

/// Tests of the format of images for TI's OAD. The check values were computed with Python.
@Suite struct OADImageTests {
  /// The smallest image: the core header, one segment with code, and 4 bytes of code. The CRC32 is
  /// zlib's over the bytes from offset 12.
  private static let smallest: [UInt8] = {
    let covered: [UInt8] =
      [3, 1, 0xFE, 0xFF, 0xFF, 0xFF, 7, 1, 0xFF, 0xFF, 0xFF, 0xFF, 60, 0, 0, 0]
      + [0x40, 0, 0, 0, 0x12, 0x03, 0x04, 0x05, 59, 0, 0, 0, 44, 0, 0xFF, 0xFF]
      + [1, 0xFE, 0xFF, 0xFF, 16, 0, 0, 0, 0, 0, 0, 0] + [1, 2, 3, 4]
    return Array("CC26x2R1".utf8) + [0xB2, 0x61, 0x0E, 0xB9].reversed() + covered
  }()

  private static func sealed(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    let crc = OADImage.checksum(of: bytes)
    for index in 0..<4 { bytes[8 + index] = UInt8(truncatingIfNeeded: crc >> (8 * UInt32(index))) }
    return bytes
  }

  private static func fault(_ bytes: [UInt8]) -> OADImageFault? {
    do throws(FirmwareFault) {
      _ = try FirmwareImage.decode(name: "app.bin", bytes: bytes)
    } catch .oad(let fault) {
      return fault
    } catch {
      return nil
    }
    return nil
  }

  @Test func theSmallestImageMatchesItsCheckValue() throws {
    #expect(OADImage.checksum(of: Self.smallest) == 0xB261_0EB9)
    let image = try FirmwareImage.decode(name: "app.bin", bytes: Self.smallest)
    let oad = try #require(image.oad)
    #expect(oad.identificationText == "CC26x2R1" && oad.type == .complete)
    #expect(oad.length == 60 && oad.bimVersion == 3 && oad.headerVersion == 1)
    #expect(oad.technology == 0xFFFE && oad.headerSize == 56 && !oad.isSigned)
    #expect(image.version == FirmwareVersion(12, 3, 405))
    #expect(try image.checkIntegrity() == .whole("CRC32"))
  }

  @Test(arguments: OADImage.identifications)
  func everyIdentificationIsRecognized(_ text: String) throws {
    let bytes = Array(text.utf8) + Self.smallest.dropFirst(8)
    #expect(try FirmwareImage.decode(name: "a.bin", bytes: bytes).oad?.identificationText == text)
  }

  /// Products may choose their own identification; size and CRC32 then identify the format.
  @Test func anImageWithItsOwnIdentificationIsRecognized() throws {
    let own = Array("MyLock01".utf8) + Self.smallest.dropFirst(8)
    #expect(try FirmwareImage.decode(name: "a.bin", bytes: own).oad != nil)
    var damaged = own
    damaged[50] ^= 1
    #expect(try FirmwareImage.decode(name: "a.bin", bytes: damaged).oad == nil)
  }

  /// The signature is in a segment before the code.
  @Test func aSignedImageIsRecognized() throws {
    var bytes = Array(Self.smallest[..<44])
    bytes += [3, 0xFE, 0xFF, 0xFF, 85, 0, 0, 0] + [UInt8](repeating: 0x5A, count: 77)
    bytes += Self.smallest[44...]
    bytes[24] = UInt8(bytes.count)
    let oad = try #require(
      try FirmwareImage.decode(name: "a.bin", bytes: Self.sealed(bytes)).oad)
    #expect(oad.isSigned && oad.headerSize == 141)
  }

  // MARK: Bad files

  @Test(arguments: [12, 20, 43])
  func aFileThatEndsInTheHeaderIsRefused(_ count: Int) {
    #expect(Self.fault(Array(Self.smallest.prefix(count))) == .cutOff(found: count))
  }

  /// Each single changed byte after the identification is detected.
  @Test func everyChangedByteIsDetected() {
    for index in 8..<Self.smallest.count {
      var bytes = Self.smallest
      bytes[index] ^= 0x10
      #expect(Self.fault(bytes) != nil, "byte \(index)")
    }
  }

  @Test func aBuildThatWasNotProcessedIsRefused() {
    var bytes = Self.smallest
    bytes.replaceSubrange(8..<12, with: [0xFF, 0xFF, 0xFF, 0xFF])
    bytes.replaceSubrange(24..<28, with: [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(Self.fault(bytes) == .notProcessed)
    #expect(FirmwareFault.oad(.notProcessed).remedy == .buildAgain)
  }

  @Test func dataAfterTheImageIsRefused() {
    #expect(Self.fault(Self.smallest + [0]) == .sizeDiffers(stated: 60, found: 61))
  }

  @Test func badSegmentsAreRefused() {
    let cases: [(offset: Int, byte: UInt8, fault: OADImageFault)] = [
      (48, 17, .segmentBeyondEnd(offset: 44)), (48, 7, .segmentBeyondEnd(offset: 44)),
      (44, 9, .segmentUnknown(9, offset: 44)), (44, 0, .segmentBeyondEnd(offset: 60)),
    ]
    for (offset, byte, fault) in cases {
      var bytes = Self.smallest
      bytes[offset] = byte
      #expect(Self.fault(Self.sealed(bytes)) == fault, "\(offset): \(byte)")
    }
  }

  @Test func tooManySegmentsAreRefused() {
    var bytes = Array(Self.smallest[..<44])
    for _ in 0..<20 { bytes += [4, 0xFE, 0xFF, 0xFF, 8, 0, 0, 0] }
    bytes[24] = UInt8(bytes.count)
    #expect(Self.fault(Self.sealed(bytes)) == .codeMissing(offset: 44 + 16 * 8))
  }

  @Test func everyFaultIsAMessageWithAPlace() {
    let faults: [OADImageFault] = [
      .cutOff(found: 9), .sizeDiffers(stated: 1, found: 2), .notProcessed,
      .checksumDiffers(stated: 1, computed: 2), .segmentBeyondEnd(offset: 44),
      .segmentUnknown(9, offset: 44), .codeMissing(offset: 44),
    ]
    for fault in faults {
      #expect(fault.description.hasPrefix("TI OAD image: ") && !fault.description.hasSuffix("."))
      #expect((0...44).contains(fault.offset))
    }
    #expect(Set(faults.map(\.description)).count == faults.count)
  }

  // MARK: The software version

  @Test(
    arguments: [
      ([0x30, 0x30, 0x30, 0x31], FirmwareVersion(0, 0, 1)),
      ([0x12, 0x03, 0x04, 0x05], FirmwareVersion(12, 3, 405)),
      ([0x00, 0x01, 0x00, 0x01], FirmwareVersion(0, 1, 1)),
      ([0x1A, 0x02, 0x01, 0x02], FirmwareVersion(26, 2, 258)),
    ] as [([UInt8], FirmwareVersion)])
  func theVersionIsReadAsThreeNumbers(_ bytes: [UInt8], _ expected: FirmwareVersion) {
    #expect(OADSoftwareVersion(bytes: bytes).version == expected)
  }

  @Test(arguments: [
    FirmwareVersion(1, 3, 0), FirmwareVersion(99, 99, 9999), FirmwareVersion(1, 1, 9),
  ])
  func aChosenVersionIsReadAgain(_ version: FirmwareVersion) {
    #expect(OADSoftwareVersion(version).version == version)
  }

  @Test func theDefaultOfTheSDKIdentifiesNoImage() {
    #expect(!OADSoftwareVersion(bytes: Array("0001".utf8)).identifiesImage)
    #expect(!OADSoftwareVersion(bytes: [0xFF, 0xFF, 0xFF, 0xFF]).identifiesImage)
    #expect(OADSoftwareVersion(bytes: [0, 1, 0, 1]).identifiesImage)
  }

  /// A device with a separate stack reports two bytes of the stack and two of the application.
  @Test func partsOfASplitImageAreCompared() {
    let reported = OADSoftwareVersion(bytes: [1, 2, 3, 4])
    #expect(reported.matches(OADSoftwareVersion(bytes: [9, 9, 3, 4]), of: .application))
    #expect(!reported.matches(OADSoftwareVersion(bytes: [1, 2, 9, 4]), of: .application))
    #expect(reported.matches(OADSoftwareVersion(bytes: [1, 2, 9, 9]), of: .stack))
    #expect(!reported.matches(OADSoftwareVersion(bytes: [9, 9, 3, 4]), of: .complete))
  }
}
