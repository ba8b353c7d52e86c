import OtaflashFirmware
import Testing

@Suite("Files without firmware")
struct ForeignContentTests {
  private static func image(_ bytes: [UInt8]) -> FirmwareImage {
    FirmwareImage(name: "a.bin", format: .binary, bytes: bytes, version: nil, hardware: nil)
  }

  /// The start of an ESP32 application: the header, and one segment of 32 bytes.
  private static let esp32: [UInt8] =
    [0xE9, 1, 2, 0x20, 0, 0, 8, 0x40] + [0xEE, 0, 0, 0] + [UInt8](repeating: 0, count: 12)
    + littleEndian(UInt32(0x3F40_0020)) + littleEndian(UInt32(32)) + [UInt8](1...32)

  static let contents: [(String, [UInt8], ForeignContent?)] = [
    ("pointer", Array("version https://git-lfs.github.com/spec/v1\noid x\n".utf8), .gitLFSPointer),
    ("page", Array("\n<!DOCTYPE html>\n<html>".utf8), .html), ("xml", Array("<a/>".utf8), .xml),
    ("json", Array("{\"a\": 1}".utf8), .json), ("text", Array("größer\r\n".utf8), .text),
    ("key", Array("-----BEGIN PUBLIC KEY-----\n".utf8), .pem),
    ("gzip", [0x1F, 0x8B, 8, 0, 1], .gzip), ("xz", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], .xz),
    ("erased", [UInt8](repeating: 0xFF, count: 5000), .erased), ("zeros", [0, 0, 0], .zeros),
    ("esp32", esp32, .esp32), ("cut esp32", Array(esp32.dropLast()), .esp32),
    ("no esp32", Array(esp32[..<7] + [0x20] + esp32[8...].dropLast()), nil),
    ("tar", [UInt8](repeating: 0x61, count: 256) + [0] + Array("ustar\u{0}00".utf8), .tar),
    ("vectors", [0, 0, 1, 0x20, 1, 4, 0, 0], nil), ("only MZ", Array("MZ\u{1}".utf8), nil),
    ("erased but one", [UInt8](repeating: 0xFF, count: 5000) + [0], nil),
    ("text but one", Array("some text".utf8) + [0], nil), ("not UTF-8", [0xC3, 0x28, 0x41], nil),
  ]

  @Test("are recognized", arguments: contents)
  func kinds(name: String, bytes: [UInt8], kind: ForeignContent?) {
    #expect(Self.image(bytes).foreignContent == kind)
  }

  @Test("an image with a descriptor is firmware, regardless of its first bytes")
  func described() {
    let descriptor = ImageDescriptor(version: FirmwareVersion(1, 0, 0), hardware: nil).encoded
    #expect(Self.image(Self.esp32 + descriptor).foreignContent == nil)
  }

  @Test("every kind has a text and advice")
  func words() {
    for kind in ForeignContent.allCases {
      #expect(!kind.rawValue.isEmpty && kind.advice.hasSuffix("."))
    }
  }

  @Test("an MCUboot image in a file of the complete flash is found, with its addresses")
  func embedded() throws {
    let signed = try Fixture.bytes("MCUboot/ed25519.bin")
    let bytes = [UInt8](repeating: 7, count: 0x400) + signed + [0xFF, 0xFF]
    let layout = AddressLayout(lowestAddress: 0x8000, start: nil, dataCount: bytes.count)
    let whole = FirmwareImage(
      name: "a.hex", format: .intelHex, bytes: bytes, version: nil, hardware: nil, layout: layout)
    let found = try #require(EmbeddedImage(in: whole))
    #expect(found.offset == 0x400)
    let region = try #require(found.region(in: whole))
    #expect(region.range == 0x8400..<UInt64(0x8400 + found.image.size))
    #expect(EmbeddedImage(in: Self.image([UInt8](repeating: 1, count: 4096))) == nil)
    #expect(EmbeddedImage(in: Self.image(bytes))?.region(in: Self.image(bytes)) == nil)
    // The file consists only of repeated magics. The search must end in limited time, and must find
    // no image.
    let magic: [UInt8] = [0x3D, 0xB8, 0xF3, 0x96] + [UInt8](repeating: 0, count: 508)
    let many = [[UInt8]](repeating: magic, count: 2000).flatMap { $0 }
    #expect(EmbeddedImage(in: Self.image([1] + many.dropFirst())) == nil)
  }
}
