import Crypto
import OtaflashTestSupport
import Testing

@testable import OtaflashFirmware

/// Tests of application images of ESP-IDF and of the files that are not such images.
@Suite("Images for the ESP32")
struct ESPImageTests {
  /// Creates an image by the rules of the format.
  static func image(
    version: String = "1.3.0", chip: UInt16 = 9, body: [UInt8] = Array(1...40),
    hasHash: Bool = true, hasDescription: Bool = true
  ) -> [UInt8] {
    func text(_ text: String) -> [UInt8] {
      Array(text.utf8) + [UInt8](repeating: 0, count: 32 - text.utf8.count)
    }
    var description = littleEndian(hasDescription ? UInt32(0xABCD_5432) : 0)
    description += littleEndian(UInt32(7)) + [UInt8](repeating: 0, count: 8)
    description += text(version) + text("blinky") + [UInt8](repeating: 0, count: 32)
    description += text("v5.5.1") + [UInt8](repeating: 0, count: 112)
    var bytes: [UInt8] = [0xE9, 2, 2, 0x2F] + littleEndian(UInt32(0x4200_0020))
    bytes += [0xEE, 0, 0, 0, UInt8(chip & 0xFF), UInt8(chip >> 8), 0, 100, 0, 0, 0, 0, 0, 0, 0]
    bytes += [hasHash ? 1 : 0]
    var checksum: UInt8 = 0xEF
    for (address, data) in [(UInt32(0x3C00_0020), description), (0x4200_0020, body)] {
      bytes += littleEndian(address) + littleEndian(UInt32(data.count)) + data
      checksum = data.reduce(checksum, ^)
    }
    bytes += [UInt8](repeating: 0, count: 15 - bytes.count % 16) + [checksum]
    return hasHash ? bytes + SHA256.hash(data: bytes) : bytes
  }

  static func decode(_ bytes: [UInt8]) throws -> FirmwareImage {
    try FirmwareImage.decode(name: "app.bin", bytes: bytes)
  }

  static func fault(_ bytes: [UInt8], name: String = "app.bin") -> ESPFault? {
    do throws(FirmwareFault) {
      _ = try FirmwareImage.decode(name: name, bytes: bytes)
      return nil
    } catch .esp(let fault) {
      return fault
    } catch {
      return nil
    }
  }

  @Test func theFieldsAreRead() throws {
    let image = try Self.decode(Self.image())
    let esp = try #require(image.esp)
    #expect(esp.chip.description == "ESP32-S3" && esp.entry == 0x4200_0020)
    #expect(esp.chipRevisionMinimum == 100 && esp.hasHash && esp.signature == .none)
    #expect(esp.segments.map(\.size) == [256, 40] && esp.segments[0].offset == 32)
    #expect(esp.application.versionText == "1.3.0" && esp.application.project == "blinky")
    #expect(esp.application.secureVersion == 7 && esp.application.frameworkVersion == "v5.5.1")
    #expect(image.version == FirmwareVersion(1, 3, 0) && esp.size == image.bytes.count)
    #expect(image.foreignContent == nil)
    #expect(try image.checkIntegrity() == .whole("SHA-256"))
  }

  @Test(arguments: [
    ("v2.0.1", FirmwareVersion(2, 0, 1)), ("1.2", nil), ("v5.1-dirty", nil), ("", nil),
  ])
  func onlyThreeNumbersAreAVersion(_ text: String, _ version: FirmwareVersion?) throws {
    #expect(try Self.decode(Self.image(version: text)).version == version)
  }

  @Test func theHashIsOptional() throws {
    let image = try Self.decode(Self.image(hasHash: false))
    #expect(try image.checkIntegrity() == .notStated)
  }

  @Test func everyTruncationIsRejected() {
    let bytes = Self.image()
    for size in 8..<bytes.count {
      guard case .cutOff(let needed, size) = Self.fault(Array(bytes[..<size])) else {
        Issue.record("\(size)")
        continue
      }
      #expect(needed > size)
    }
  }

  /// A change of any byte after the headers of the image and of its first segment is detected.
  @Test func everyChangeIsDetected() {
    let bytes = Self.image()
    for index in 32..<bytes.count {
      var changed = bytes
      changed[index] ^= 0x10
      #expect(Self.fault(changed) != nil, "\(index)")
    }
  }

  @Test func aWrongChecksumIsReported() {
    var bytes = Self.image(hasHash: false)
    bytes[bytes.count - 1] ^= 1
    guard case .checksumDiffers(_, _, let offset) = Self.fault(bytes) else {
      Issue.record("not reported")
      return
    }
    #expect(offset == bytes.count - 1)
  }

  @Test func aBootloaderIsRejected() {
    #expect(Self.fault(Self.image(hasDescription: false)) == .notAnApplication)
  }

  @Test func signaturesAreRecognized() throws {
    let plain = Self.image()
    let padding = [UInt8](repeating: 0xFF, count: 4096 - plain.count)
    let block = [0xE7, 2] + [UInt8](repeating: 3, count: 4094)
    #expect(try Self.decode(plain + padding + block).esp?.signature == .secureBoot)
    #expect(
      try Self.decode(plain + [UInt8](repeating: 1, count: 256)).esp?.signature == .appended)
    #expect(Self.fault(plain + [1, 2]) == .trailingBytes(count: 2, offset: plain.count))
  }

  /// A file of the complete flash starts with a bootloader, or with erased space before it.
  @Test(arguments: [0xE9, 0xFF] as [UInt8], [0x8000, 0x9000])
  func aFileOfTheCompleteFlashIsRejected(_ first: UInt8, _ table: Int) {
    var bytes = [UInt8](repeating: 0xFF, count: 0x10000)
    if first == 0xE9 { bytes.replaceSubrange(0..<400, with: Self.image().prefix(400)) }
    for (number, place) in [UInt32(0x9000), 0x10000].enumerated() {
      let entry = [0xAA, 0x50, 1, 2] + littleEndian(place) + littleEndian(UInt32(0x4000))
      let start = table + number * 32
      bytes.replaceSubrange(start..<start + entry.count, with: entry)
    }
    bytes += Self.image()
    #expect(Self.fault(bytes) == .completeFlash(partitionTable: table))
  }

  static func program(machine: UInt16, entry: UInt32, content: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 1, 1, 1] + [UInt8](repeating: 0, count: 9)
    bytes += [2, 0, UInt8(machine & 0xFF), UInt8(machine >> 8), 1, 0, 0, 0]
    bytes += littleEndian(entry) + littleEndian(UInt32(52)) + [UInt8](repeating: 0, count: 8)
    bytes += [52, 0, 32, 0, 1, 0, 40, 0, 0, 0, 0, 0]
    bytes += littleEndian(UInt32(1)) + littleEndian(UInt32(84)) + littleEndian(entry)
    bytes += littleEndian(entry) + littleEndian(UInt32(content.count))
    return bytes + littleEndian(UInt32(content.count)) + [5, 0, 0, 0, 4, 0, 0, 0] + content
  }

  @Test func aLinkedProgramIsRejected() throws {
    let magic = littleEndian(UInt32(0xABCD_5432)) + [0, 0, 0, 0]
    let xtensa = Self.program(machine: 94, entry: 0x4037_8000, content: [1, 2, 3, 4])
    #expect(Self.fault(xtensa, name: "app.elf") == .program)
    let riscV = Self.program(machine: 243, entry: 0x4200_0000, content: magic)
    #expect(Self.fault(riscV, name: "app.elf") == .program)
    #expect(FirmwareFault.esp(.program).remedy == .convertWithEsptool)
    // Other manufacturers use RISC-V and similar addresses.
    let other = Self.program(machine: 243, entry: 0x4200_0000, content: [1, 2, 3, 4])
    #expect(Self.fault(other, name: "app.elf") == nil)
  }

  @Test(arguments: [
    ("ESP32-S3-WROOM-1", UInt16(9)), ("esp32c3 devkit", 5), ("ESP32-C61", 0x14),
    ("ESP32-C6", 0x0D),
  ])
  func theChipIsFoundInAText(_ text: String, _ id: UInt16) {
    #expect(ESPChip(namedIn: text)?.rawValue == id)
  }

  @Test(arguments: ["ESP32", "nRF52840", ""])
  func theNameOfTheFamilyIsNotAChip(_ text: String) {
    #expect(ESPChip(namedIn: text) == nil)
  }

  @Test func everyFaultHasATextAndARemedy() {
    let faults: [ESPFault] = [
      .program, .completeFlash(partitionTable: 0x8000), .cutOff(needed: 24, found: 8),
      .segmentCount(17), .checksumDiffers(stated: 1, computed: 2, offset: 15),
      .hashDiffers(offset: 16), .notAnApplication, .trailingBytes(count: 2, offset: 400),
    ]
    for fault in faults {
      #expect(!fault.description.isEmpty && fault.offset >= 0)
      _ = FirmwareFault.esp(fault).remedy
    }
  }
}
