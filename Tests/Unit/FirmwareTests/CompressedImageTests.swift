import OtaflashFirmware
import Testing

/// Tests of images that imgtool compressed, compared with the uncompressed image.
@Suite struct CompressedImageTests {
  @Test(arguments: [
    ("lzma2", ["compressed with LZMA2"]),
    ("lzma2armthumb", ["compressed with LZMA2", "compressed through the ARM Thumb filter"]),
  ])
  func theRunningHashIsTheHashOfTheUncompressedImage(_ name: String, _ flags: [String]) throws {
    let plain = try #require(try Fixture.image("Compressed/plain.bin").mcuboot)
    let image = try Fixture.image("Compressed/\(name).bin")
    let mcuboot = try #require(image.mcuboot)
    #expect(mcuboot.isCompressed && mcuboot.header.flags.words == flags)
    #expect(mcuboot.decompressedHash == plain.hash?.bytes)
    #expect(mcuboot.decompressedSize == Int(plain.header.headerSize) + Int(plain.header.bodySize))
    #expect(mcuboot.runningHash == plain.runningHash)
    #expect(mcuboot.hash?.bytes != plain.hash?.bytes)
    #expect(try image.checkIntegrity() == .whole("SHA-256"))
  }

  @Test func anUncompressedImageHasNoDecompressedHash() throws {
    let plain = try #require(try Fixture.image("Compressed/plain.bin").mcuboot)
    #expect(!plain.isCompressed && plain.decompressedHash == nil && plain.decompressedSize == nil)
    #expect(plain.runningHash == plain.hash?.bytes)
  }

  /// The entries count only if the flag is set.
  @Test func withoutTheFlagTheImageIsUncompressed() throws {
    var bytes = try Fixture.bytes("Compressed/lzma2.bin")
    bytes[17] = 0
    let image = try MCUbootImage(decoding: bytes)
    #expect(!image.isCompressed && image.decompressedHash == nil)
    #expect(image.runningHash == image.hash?.bytes)
  }

  @Test func aSizeIsFourBytes() throws {
    var bytes = try Fixture.bytes("Compressed/lzma2.bin")
    // The entries start after the area's magic and size. Two entries of 4 and 32 bytes become one
    // entry.
    let area = 32 + 710
    bytes[area + 6] = 40
    let fault = MCUbootFault.wrongLength(
      .decompressedSize, expected: 4, found: 40, offset: area + 4)
    #expect(throws: fault) { try MCUbootImage(decoding: bytes) }
  }
}
