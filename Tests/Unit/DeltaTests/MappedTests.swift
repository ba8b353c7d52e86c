import OtaflashSampleFirmware
import OtaflashTestSupport
import Testing

@testable import OtaflashDelta

/// The example of docs/delta.md, section 4.4.
enum MappedExample {
  static let base = bytes(
    """
    00 04 00 20 11 00 00 08 21 00 00 08 2D 00 00 08 10 B5 00 F0 05 F8 00 F0 09 F8 10 BD \
    21 00 00 08 01 20 70 47 00 F0 02 B8 11 00 00 08 02 20 70 47 00 04 00 20
    """)
  static let image = bytes(
    """
    00 04 00 20 11 00 00 08 25 00 00 08 31 00 00 08 10 B5 00 F0 07 F8 00 F0 0B F8 10 BD \
    25 00 00 08 00 BF 00 BF 01 20 70 47 00 F0 02 B8 11 00 00 08 02 20 70 47 00 04 00 20
    """)
  static let heatshrink = bytes(
    """
    44 38 41 81 60 00 05 01 C8 00 C6 81 04 85 51 20 12 00 F7 80 3E 09 00 DF 80 46 89 14 \
    0B 78 01 00
    """)
  static let range = bytes(
    """
    48 38 BF FF F7 FC 00 00 00 5F FF FF FB 8D 80 09 E3 F2 40 6A 6B 1B 88 9D 7F 19 10 66 \
    D9 50 00
    """)
}

@Suite struct MappedTests {
  static let codecs: [PatchCodec] =
    [.range]
    + [(8, 7), (10, 4), (10, 9)].compactMap {
      HeatshrinkParameters(window: $0.0, lookahead: $0.1).map(PatchCodec.mapped)
    }

  @Test func theExampleOfTheDocumentIsDecoded() throws {
    for patch in [MappedExample.heatshrink, MappedExample.range] {
      let result = try PatchReader.apply(
        patch[...], to: MappedExample.base, limit: MappedExample.image.count)
      #expect(result.image == MappedExample.image)
      #expect(result.codec.isMapped)
    }
  }

  @Test func everyTruncatedPatchIsRefused() {
    for patch in [MappedExample.heatshrink, MappedExample.range] {
      for count in patch.indices {
        #expect(throws: PatchFault.self) {
          try PatchReader.apply(
            patch[..<count], to: MappedExample.base, limit: MappedExample.image.count)
        }
      }
    }
  }

  /// A branch keeps its target and its kind if its distance is written again.
  @Test(arguments: [0xF800_F000, 0xD1FE_F7FF, 0xB802_F000, 0x9A55_F5A3] as [UInt32])
  func branchesAreWrittenAsTheyWereRead(_ word: UInt32) throws {
    let distance = try #require(ThumbBranch.distance(word))
    #expect(ThumbBranch.word(word, distance: distance) == word)
  }

  @Test func otherInstructionsAreNoBranches() {
    // MOVW, BLX, a conditional branch, and LDR.
    for word in [0x0000_F240, 0xE802_F000, 0x8002_F000, 0xF000_4800] as [UInt32] {
      #expect(ThumbBranch.distance(word) == nil)
    }
  }

  @Test func theLastEntryAtOrBeforeAnAddressMovesIt() {
    let map = AddressMap(
      entries: [.init(start: 8, shift: 4), .init(start: 16, shift: 0xFFFF_FFFE)])
    let moved: [(UInt32, UInt32)] = [
      (7, 0), (8, 4), (15, 4), (16, 0xFFFF_FFFE), (.max, 0xFFFF_FFFE),
    ]
    for (address, shift) in moved { #expect(map.shift(of: address) == shift) }
    #expect(AddressMap().shift(of: 5) == 0)
  }

  /// A program of functions that call each other, with a table of pointers.
  static func program(inserting inserted: Int, at place: Int) -> [UInt8] {
    let origin: UInt32 = 0x0800_0000
    func moved(_ offset: Int) -> Int { offset < place ? offset : offset + inserted }
    var bytes: [UInt8] = []
    func append(_ word: UInt32) {
      for i in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(8 * i))) }
    }
    for offset in stride(from: 0, to: 16384, by: 4) {
      if offset == place { bytes += [UInt8](repeating: 0xBF, count: inserted) }
      let target = offset &* 7919 % 16384 & ~3
      switch offset / 4 % 8 {
      case 0:
        let distance = UInt32(truncatingIfNeeded: moved(target) - moved(offset) - 4)
        append(ThumbBranch.word(0xF800_F000, distance: distance))
      case 1: append(origin + UInt32(moved(target)) | 1)
      default: append(UInt32(truncatingIfNeeded: offset &* 0x9E37_79B1))
      }
    }
    return bytes
  }

  @Test func theMapPredictsMovedAddresses() {
    let base = PatchBase(Self.program(inserting: 0, at: 8192))
    let image = Self.program(inserting: 20, at: 8192)
    func changes(_ content: [UInt8]) -> Int { content.count { $0 != 0 } }
    // The bytes that remain are the inserted code, the map and the sizes.
    let steps = ApproximateMatching.steps(from: base, to: image[...])[0]
    #expect(changes(MappedContent(steps, from: base, to: image[...]).bytes()) < 100)
    #expect(changes(PatchStream.bytes(steps, from: base, to: image[...])) > 400)
    #expect(Patch(from: base, to: image[...], codec: .range).bytes.count < 150)
  }

  @Test(arguments: 1...20)
  func patchesCreateTheImage(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let base = seed % 5 == 0 ? [] : random.code(Int.random(in: 1..<1500, using: &random))
    try PatchTests.expectRoundTrip(from: base, to: random.edited(base, pieces: 5), Self.codecs)
  }

  /// Only a part of the words and branches of a large image is compared.
  @Test func theAddressOfALargeImageIsFound() {
    let image = RelinkedFirmware(size: 3 << 20, changing: 0).old
    #expect(OriginCandidates(image).addresses.contains(0xC200))
  }

  @Test func aFileHasTheHeaderOfAPart() throws {
    let base = PatchBase(MappedExample.base)
    let patch = Patch(from: base, to: MappedExample.image[...], codec: .range)
    let bytes = PatchFile.bytes(of: patch, creating: MappedExample.image)
    let file = try #require(PatchFile(of: bytes))
    #expect(file.name == "an otaflash patch" && file.patch?.kind == .mapped)
    #expect(file.patch?.imageSize == MappedExample.image.count)
    #expect(Array(PatchFile.patch(in: bytes)) == patch.bytes)
    // Without the header, the bytes could be any file.
    #expect(PatchFile(of: patch.bytes) == nil)
  }
}

extension SplitMix64 {
  /// Random bytes, some of which are branches, and pointers into the bytes.
  mutating func code(_ count: Int) -> [UInt8] {
    var bytes = bytes(count, kinds: 60)
    for i in stride(from: 0, to: count - 4, by: 4) {
      let kind = Int.random(in: 0..<4, using: &self)
      if kind == 0 {
        bytes[i + 1] = 0xF0 | bytes[i + 1] & 7
        bytes[i + 3] |= 0x90
      } else if kind == 1 {
        let target = Int.random(in: 0..<count, using: &self)
        bytes.replaceSubrange(i..<i + 4, with: [UInt8(target & 0xFE), UInt8(target >> 8), 0, 8])
      }
    }
    return bytes
  }
}
