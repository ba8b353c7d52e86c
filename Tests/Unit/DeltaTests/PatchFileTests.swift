import Testing

@testable import OtaflashDelta

@Suite struct PatchFileTests {
  struct Sample: CustomTestStringConvertible, Sendable {
    let kind: PatchDescription.Kind
    let codec: String
    let digits: String
    var hasDataFormat = false

    var testDescription: String { "\(kind), \(codec)" }
    var bytes: [UInt8] {
      stride(from: 0, to: digits.count, by: 2).map { at in
        let start = digits.index(digits.startIndex, offsetBy: at)
        return UInt8(digits[start...].prefix(2), radix: 16) ?? 0
      }
    }
  }

  /// The patches that PyPI's detools 0.53.0 creates for the example of docs/delta.md, in every
  /// codec and of every type (the in-place type with a memory of 512 bytes and segments of 32).
  static let samples: [Sample] = {
    func zeros(_ count: Int) -> String { String(repeating: "00", count: count) }
    return [
      Sample(
        kind: .sequential, codec: "lzma",
        digits: "0183015d00008000ffffffffffffffff000008c60699c6f6343fce0562d2331a1cdfe94b5854dffda0"
          + "6c00"),
      Sample(
        kind: .sequential, codec: "bz2",
        digits: "038301425a6839314159265359584303bb0000067710490020024000020100804000400020002"
          + "1a0983d508069a68a1e1920c964601f177245385090584303bb"),
      Sample(
        kind: .sequential, codec: "zstd",
        digits: "05830128b52ffd204ab5000068002000a000034e455700200060031000b8a1581b02"),
      Sample(
        kind: .sequential, codec: "lz4",
        digits: "06830104224d184040c01d0000003500200001002fa00001000148034e455726001e0001005000000"
          + "0006000000000"),
      Sample(
        kind: .inPlace, codec: "none",
        digits: "1080082080078001830100" + "20" + zeros(10) + "a0" + zeros(22) + "55"
          + "0000034e4557201d" + zeros(30) + "5d0000033d3e3f3f"),
      Sample(
        kind: .inPlace, codec: "crle",
        digits: "128008208007800183010002" + "0020010a000001a00116000009550000034e4557201d011e00"
          + "00085d0000033d3e3f3f"),
      Sample(
        kind: .inPlace, codec: "heatshrink 8,7",
        digits: "148008208007800183014480480142740212b5580402074ea2d5e411d241dae89814f67d3f9f80"),
      Sample(
        kind: .inPlace, codec: "lzma",
        digits: "118008208007800183015d00008000ffffffffffffffff000008c60699c77b17c1ede11dfe4d02df82"
          + "fd22f7957c3507093a181d548affff6ac40000"),
      Sample(
        kind: .hdiffpatch, codec: "none",
        digits: "20830122484449464631332600434002060004000100030000002000032009802037a04e4557"),
      Sample(
        kind: .hdiffpatch, codec: "crle",
        digits: "228301220022484449464631332600434002060004000100030000002000032009802037a04e4557"),
      Sample(
        kind: .hdiffpatch, codec: "heatshrink 8,7",
        digits: "2483012244a45129346a34c667268050e810283402090080c02061505208040e4109c04826fa0a75"
          + "16ae"),
      Sample(
        kind: .sequential, codec: "crle",
        digits: "028301000106010700000120010a000001a00115000006034e45570020012100000160",
        hasDataFormat: true),
    ]
  }()

  private static func name(_ compression: PatchDescription.Compression) -> String {
    switch compression {
    case .known(let codec): codec.description
    case .foreign(let name): name
    }
  }

  @Test(arguments: samples) func patchesByDetoolsAreDescribed(_ sample: Sample) throws {
    let file = try #require(PatchFile(of: sample.bytes))
    let patch = try #require(file.patch)
    #expect(file.baseDigest == nil)
    #expect(patch.kind == sample.kind && Self.name(patch.compression) == sample.codec)
    #expect(patch.imageSize == 67 && patch.hasDataFormat == sample.hasDataFormat)
  }

  @Test func theExampleIsDescribed() throws {
    for (name, digits) in Example.patches {
      let patch = try #require(PatchDescription(of: bytes(digits)[...]))
      #expect(patch.kind == .sequential && Self.name(patch.compression) == name)
      #expect(patch.imageSize == 67 && !patch.hasDataFormat)
    }
  }

  /// A truncated patch, or a patch with an additional byte, is rejected. For unsupported codecs
  /// only the start is checked.
  @Test(arguments: samples) func incompletePatchesAreRejected(_ sample: Sample) {
    let whole = sample.bytes
    let first = ["lzma", "bz2", "zstd", "lz4"].contains(sample.codec) ? 3 : whole.count - 1
    for end in 0...first { #expect(PatchFile(of: Array(whole[..<end])) == nil, "\(end)") }
    if first > 3 { #expect(PatchFile(of: whole + [0]) == nil) }
  }

  @Test func otherFilesAreNotPatches() {
    let others: [[UInt8]] = [
      [], [0], [0, 0], [0x30, 1, 0], [0x80, 1, 0, 1, 0, 0], [7, 1, 0], [0, 0x41, 0, 0, 1, 5, 0],
      [0x00, 0x20, 0x00, 0x20, 0x01, 0x01, 0x00, 0x08], Array("\u{2}text".utf8),
      Example.base, Example.image,
    ]
    for other in others { #expect(PatchFile(of: other) == nil, "\(other)") }
  }

  /// One file has 13 bytes, and expands to 2^31 bytes; in the other, each byte of the memory is a
  /// segment.
  @Test func smallFilesAreReadInBoundedTime() {
    #expect(PatchFile(of: bytes("02 BF FF FF FF 07 01 FF FF FF FF 07 00")) == nil)
    let segments = bytes("12 BF FF FF 1F 01 00 00 BF FF FF 1F 01 FF FF FF FF 07 00")
    #expect(PatchFile(of: segments) == nil)
  }

  @Test func anESPDeltaUpdateStatesItsBase() throws {
    let digest = (1...32).map { UInt8($0) }
    let header = [0x10, 0xDE, 0xCD, 0xFC] + digest + [UInt8](repeating: 0, count: 28)
    let patch = bytes(Example.patches["heatshrink 8,7"] ?? "")
    let file = try #require(PatchFile(of: header + patch))
    #expect(file.baseDigest == digest)
    #expect(file.patch == PatchDescription(of: patch[...]))
    #expect(file.patch?.imageSize == 67)
    let damaged = try #require(PatchFile(of: header + patch.dropLast()))
    #expect(damaged.baseDigest == digest && damaged.patch == nil)
    #expect(PatchFile(of: Array(header.dropLast())) == nil)
  }
}
