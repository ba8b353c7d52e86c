import OtaflashTestSupport
import Testing

@testable import OtaflashDelta

@Suite struct PatchTests {
  static let codecs: [PatchCodec] =
    [.none, .crle]
    + [(8, 7), (10, 4), (10, 8), (10, 9)].compactMap {
      HeatshrinkParameters(window: $0.0, lookahead: $0.1).map(PatchCodec.heatshrink)
    }

  @Test func theExampleOfTheDocumentIsDecoded() throws {
    for (name, digits) in Example.patches {
      let result = try PatchReader.apply(bytes(digits)[...], to: Example.base, limit: 67)
      #expect(result.image == Example.image)
      #expect(result.codec.description == name)
    }
  }

  /// Other encodings of the same image. No encoder writes them, but detools 0.53.0 decodes each of
  /// them.
  @Test(arguments: [
    ("00 83 01 00 00 83 01", "60"), ("00 83 01 00 00 83 01", "BF FF FF FF 0F"),
    ("00 83 01 00 00 83 01", "40"), ("00 83 01 40 00 83 01", "00"),
    ("00 83 81 00 00 00 83 01", "00"), ("00 83 01 00 80 00 83 01", "00"),
    ("00 83 01 00 6*00 00 83 01", "00"), ("02 83 01 00 00 00 48 00 00 83 01", "00"),
    ("02 83 01 01 00 EE 00 48 00 00 83 01", "00"), ("02 83 01 00 C8 00 00 00 83 01", "00"),
  ])
  func otherEncodingsOfTheSameImageAreDecoded(_ head: String, _ tail: String) throws {
    let patch = bytes(head) + Example.image + bytes(tail)
    let result = try PatchReader.apply(patch[...], to: Example.base, limit: 67)
    #expect(result.image == Example.image)
  }

  @Test func patchesOfTheExampleAreNotLongerThanInTheDocument() {
    for codec in Self.codecs {
      let patch = Patch(from: PatchBase(Example.base), to: Example.image[...], codec: codec)
      guard let other = Example.patches[codec.description] else { continue }
      #expect(patch.bytes.count <= bytes(other).count)
    }
  }

  @Test(arguments: 1...20)
  func patchesCreateTheImage(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let base =
      seed % 5 == 0 ? [] : random.bytes(Int.random(in: 1..<1500, using: &random), kinds: 60)
    try Self.expectRoundTrip(from: base, to: random.edited(base, pieces: 5), Self.codecs)
  }

  /// Expects that a patch of each codec creates the image.
  static func expectRoundTrip(
    from base: [UInt8], to image: [UInt8], _ codecs: [PatchCodec]
  ) throws {
    for codec in codecs {
      let patch = Patch(from: PatchBase(base), to: image[...], codec: codec)
      let result = try PatchReader.apply(
        patch.bytes[...], to: base, limit: image.count, pageSize: 256)
      #expect(result.image == image && result.codec == codec)
      #expect(result.bytesAtPages.count == (image.count + 255) / 256)
      #expect(result.bytesAtPages == result.bytesAtPages.sorted())
    }
  }

  @Test func theImageMayBeAPartOfASlice() throws {
    let image = Example.image
    let patch = Patch(from: PatchBase(Example.base), to: image[20..<50], codec: .crle)
    let result = try PatchReader.apply(patch.bytes[...], to: Example.base, limit: 30)
    #expect(result.image == Array(image[20..<50]))
  }

  @Test func theSmallestPatchIsUsed() {
    var random = SplitMix64(seed: 8)
    let base = PatchBase(random.bytes(4000))
    let same = Patch.smallest(from: base, to: base.bytes[...], codecs: Self.codecs)
    #expect(same.codec == .crle && same.bytes.count < 20)
    let text = Array("the quick brown fox jumps over the lazy dog, the quick one. ".utf8)
    let other = Patch.smallest(
      from: base, to: (text + text + text + text)[...], codecs: Self.codecs)
    #expect(other.codec.number == 4)
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    let patch: String
    let reason: PatchFault.Reason
    let offset: Int
    init(_ patch: String, _ reason: PatchFault.Reason, at offset: Int) {
      (self.patch, self.reason, self.offset) = (patch, reason, offset)
    }
    var testDescription: String { "\(reason)" }
  }

  static let refused = [
    Refused("", .cutOff, at: 0),
    Refused("80 83 01 00", .reservedBit, at: 0),
    Refused("10 83 01 00", .type(1), at: 0),
    Refused("01 83 01 5D", .codec(1), at: 2),
    Refused("00 00 00", .imageSize(stated: 0, limit: 67), at: 1),
    Refused("00 84 01 00", .imageSize(stated: 68, limit: 67), at: 2),
    Refused("00 C3 01 00", .negativeSize, at: 2),
    Refused("00 80 80 80 80 10", .numberTooLong, at: 5),
    Refused("00 80 80 80 80 80 00", .numberTooLong, at: 6),
    Refused("04 83 01 45 80", .heatshrinkParameters(0x45), at: 3),
    Refused("00 83 01 01 00", .dataFormat, at: 3),
    Refused("00 83 01 00 41", .negativeSize, at: 4),
    Refused("00 83 01 00 84 01", .beyondImage(size: 68, left: 67), at: 5),
    Refused("00 83 01 00 81 01", .beyondBase(size: 65, left: 64), at: 5),
    Refused("00 83 01 00 01 00 00 42", .seekOutsideBase(-1), at: 7),
    Refused("00 83 01 00 01 00 00 80 01", .seekOutsideBase(65), at: 8),
    Refused("00 83 01 00 195*00", .nothingMade, at: 198),
    Refused("02 83 01 02 01 00", .blockKind(2), at: 3),
    Refused("02 83 01 01 80 80 80 80 08 00", .numberTooLong, at: 8),
    Refused("02 83 01 01 FF FF FF FF 07 00", .nothingMade, at: 9),
    Refused("00 01 00 00 01 55 00 00", .bytesBehindEnd(1), at: 6),
    Refused("02 01 00 07 00 00 01 55 00 00 00", .padding, at: 8),
    Refused("00 02 00 00 02 55", .cutOff, at: 6),
  ]

  @Test(arguments: refused)
  func malformedPatchesAreRefusedWithTheirOffset(_ refused: Refused) {
    #expect(throws: PatchFault(refused.reason, at: refused.offset)) {
      try PatchReader.apply(bytes(refused.patch)[...], to: Example.base, limit: 67)
    }
  }

  @Test func everyTruncatedPatchIsRefused() {
    for digits in Example.patches.values {
      let patch = bytes(digits)
      for count in patch.indices {
        #expect(throws: PatchFault.self) {
          try PatchReader.apply(patch[..<count], to: Example.base, limit: 67)
        }
      }
    }
  }

  @Test func theMaximumOfEmptyStepsIsAccepted() throws {
    let patch = bytes("00 01 00 192*00 00 01 55 00")
    #expect(try PatchReader.apply(patch[...], to: Example.base, limit: 1).image == [0x55])
  }

  /// An offset refers to the byte that was read last, and counts from the start of the patch, even
  /// if the patch is a slice of a file.
  @Test func offsetsCountFromTheSlice() {
    let file = [1, 2, 3] + bytes("00 83 01 01 00")
    #expect(throws: PatchFault(.dataFormat, at: 3)) {
      try PatchReader.apply(file[3...], to: Example.base, limit: 67)
    }
  }
}
