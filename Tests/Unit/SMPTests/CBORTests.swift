import OtaflashSimulation
import OtaflashTestSupport
import OtaflashUpdate
import OtaflashWire
import Testing

/// Tests of the examples of RFC 8949, appendix A, and of malformed data according to its appendix
/// F.
@Suite struct CBORTests {
  struct Example: Sendable, CustomTestStringConvertible {
    let bytes: String
    let item: CBORItem
    /// The form that the encoder writes, or `nil` if it is `bytes`. The decoder also accepts longer
    /// forms.
    var shortest: String?

    init(_ bytes: String, _ item: CBORItem, shortest: String? = nil) {
      self.bytes = bytes
      self.item = item
      self.shortest = shortest
    }

    var testDescription: String { bytes }
  }

  static func map(_ pairs: [(CBORItem, CBORItem)]) -> CBORItem {
    .map(CBORMap(pairs: pairs.map { CBORMap.Pair(key: $0.0, value: $0.1) }))
  }

  static let numbers = [
    Example("00", .integer(0)), Example("01", .integer(1)), Example("0a", .integer(10)),
    Example("17", .integer(23)), Example("1818", .integer(24)), Example("1819", .integer(25)),
    Example("1864", .integer(100)), Example("1903e8", .integer(1000)),
    Example("1a000f4240", .integer(1_000_000)),
    Example("1b000000e8d4a51000", .integer(1_000_000_000_000)),
    Example("1bffffffffffffffff", .unsigned(.max)),
    Example("3bffffffffffffffff", .negative(.max)),
    Example("20", .integer(-1)), Example("29", .integer(-10)), Example("3863", .integer(-100)),
    Example("3903e7", .integer(-1000)),
    Example("f90000", .float(0)), Example("f98000", .float(-0.0)), Example("f93c00", .float(1)),
    Example("fb3ff199999999999a", .float(1.1)), Example("f93e00", .float(1.5)),
    Example("f97bff", .float(65504)), Example("fa47c35000", .float(100_000)),
    Example("fa7f7fffff", .float(3.4028234663852886e+38)),
    Example("fb7e37e43c8800759c", .float(1.0e+300)),
    Example("f90001", .float(5.960464477539063e-8)),
    Example("f90400", .float(0.00006103515625)), Example("f9c400", .float(-4)),
    Example("fbc010666666666666", .float(-4.1)), Example("f97c00", .float(.infinity)),
    Example("f9fc00", .float(-.infinity)),
    Example("fa7f800000", .float(.infinity), shortest: "f97c00"),
    Example("fb7ff0000000000000", .float(.infinity), shortest: "f97c00"),
    // Longer heads than needed are well-formed.
    Example("1800", .integer(0), shortest: "00"),
    Example("1b0000000000000001", .integer(1), shortest: "01"),
  ]

  static let others = [
    Example("f4", .boolean(false)), Example("f5", .boolean(true)), Example("f6", .null),
    Example("f7", .undefined), Example("f0", .simple(16)), Example("f8ff", .simple(255)),
    // Tags: a date, the content of a bignum, an expected conversion, and two nested tags.
    Example("c11a514b67b0", .integer(1_363_896_240), shortest: "1a514b67b0"),
    Example(
      "c249010000000000000000", .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0]),
      shortest: "49010000000000000000"),
    Example("d74401020304", .bytes([1, 2, 3, 4]), shortest: "4401020304"),
    Example("d818d9d9f74161", .bytes([0x61]), shortest: "4161"),
    Example("40", .bytes([])), Example("4401020304", .bytes([1, 2, 3, 4])),
    Example("60", .text("")), Example("6161", .text("a")), Example("6449455446", .text("IETF")),
    Example("62225c", .text("\"\\")), Example("62c3bc", .text("\u{fc}")),
    Example("63e6b0b4", .text("\u{6c34}")), Example("64f0908591", .text("\u{10151}")),
    Example("80", .array([])),
    Example("83010203", .array([.integer(1), .integer(2), .integer(3)])),
    Example(
      "8301820203820405",
      .array([
        .integer(1), .array([.integer(2), .integer(3)]), .array([.integer(4), .integer(5)]),
      ])),
    Example(
      "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
      .array((1...25).map(CBORItem.integer))),
    Example("a0", map([])),
    Example("a201020304", map([(.integer(1), .integer(2)), (.integer(3), .integer(4))])),
    Example(
      "a26161016162820203",
      map([(.text("a"), .integer(1)), (.text("b"), .array([.integer(2), .integer(3)]))])),
    Example("826161a161626163", .array([.text("a"), map([(.text("b"), .text("c"))])])),
    // Indefinite lengths.
    Example("5f42010243030405ff", .bytes([1, 2, 3, 4, 5]), shortest: "450102030405"),
    Example("5fff", .bytes([]), shortest: "40"),
    Example("7f657374726561646d696e67ff", .text("streaming"), shortest: "6973747265616d696e67"),
    Example("9fff", .array([]), shortest: "80"),
    Example(
      "9f018202039f0405ffff",
      .array([
        .integer(1), .array([.integer(2), .integer(3)]), .array([.integer(4), .integer(5)]),
      ]), shortest: "8301820203820405"),
    Example(
      "bf61610161629f0203ffff",
      map([(.text("a"), .integer(1)), (.text("b"), .array([.integer(2), .integer(3)]))]),
      shortest: "a26161016162820203"),
    Example(
      "bf6346756ef563416d7421ff",
      map([(.text("Fun"), .boolean(true)), (.text("Amt"), .integer(-2))]),
      shortest: "a263416d74216346756ef5"),
  ]

  @Test(
    "an example of the RFC is decoded, and encoded in its shortest form",
    arguments: numbers + others)
  func examples(example: Example) throws {
    #expect(try CBORItem(decoding: hex(example.bytes)) == example.item)
    #expect(hex(example.item.encoded) == example.shortest ?? example.bytes)
  }

  @Test(
    "a NaN of any width is encoded as the NaN of two bytes",
    arguments: ["f97e00", "fa7fc00000", "fb7ff8000000000000", "f97c01"])
  func notANumber(bytes: String) throws {
    let item = try CBORItem(decoding: hex(bytes))
    guard case .float(let value) = item else { throw Mismatch(item) }
    #expect(value.isNaN)
    #expect(hex(item.encoded) == "f97e00")
  }

  @Test("every number of binary16 is its own shortest form")
  func halves() throws {
    for bits in UInt16.min ... .max where bits & 0x7C00 != 0x7C00 || bits & 0x3FF == 0 {
      let bytes = [0xF9, UInt8(bits >> 8), UInt8(bits & 0xFF)]
      #expect(try CBORItem(decoding: bytes).encoded == bytes)
    }
  }

  @Test("keys are written in the order of their bytes, and shorter keys come first")
  func keyOrder() {
    let map = CBORMap(["sha": .null, "off": .null, "data": .null, "z": .null])
    #expect(hex(CBORItem.map(map).encoded) == "a4617af6636f6666f663736861f66464617461f6")
  }

  struct Wrong: Sendable, CustomTestStringConvertible {
    let bytes: String
    let fault: CBORFault

    init(_ bytes: String, _ cause: CBORFault.Cause, at position: Int) {
      self.bytes = bytes
      fault = CBORFault(cause, at: position)
    }

    var testDescription: String { bytes.isEmpty ? "nothing" : bytes }
  }

  static let malformed = [
    Wrong("", .endsEarly, at: 0), Wrong("18", .endsEarly, at: 0),
    Wrong("19ff", .endsEarly, at: 0), Wrong("1b01020304050607", .endsEarly, at: 0),
    Wrong("41", .endsEarly, at: 0), Wrong("5affffffff00", .endsEarly, at: 0),
    Wrong("5bffffffffffffffff010203", .endsEarly, at: 0),
    Wrong("7b7fffffffffffffff010203", .endsEarly, at: 0),
    Wrong("81", .endsEarly, at: 1), Wrong("818181", .endsEarly, at: 3),
    Wrong("9bffffffffffffffff01", .endsEarly, at: 10),
    Wrong("a1", .endsEarly, at: 1), Wrong("a2018100", .endsEarly, at: 4),
    Wrong("c0", .endsEarly, at: 1), Wrong("5f4100", .endsEarly, at: 3),
    Wrong("9f01", .endsEarly, at: 2), Wrong("bf0102", .endsEarly, at: 3),
    Wrong("1c", .reservedLength(28), at: 0), Wrong("7e", .reservedLength(30), at: 0),
    Wrong("1f", .reservedLength(31), at: 0), Wrong("3f", .reservedLength(31), at: 0),
    Wrong("df00", .reservedLength(31), at: 0),
    Wrong("ff", .unexpectedBreak, at: 0), Wrong("81ff", .unexpectedBreak, at: 1),
    Wrong("a1ff", .unexpectedBreak, at: 1), Wrong("bf00ff", .unexpectedBreak, at: 2),
    Wrong("9fc1ff", .unexpectedBreak, at: 2),
    Wrong("5f00ff", .wrongChunk, at: 1), Wrong("5f6100ff", .wrongChunk, at: 1),
    Wrong("5f5f4100ffff", .wrongChunk, at: 1), Wrong("7f4100ff", .wrongChunk, at: 1),
    Wrong("f818", .reservedSimple(24), at: 0), Wrong("f81f", .reservedSimple(31), at: 0),
    Wrong("61ff", .notUTF8, at: 0), Wrong("8162c328", .notUTF8, at: 1),
    // Each of the two parts contains half of a character.
    Wrong("7f61c361bcff", .notUTF8, at: 1),
    Wrong("a2616101616102", .duplicateKey, at: 4),
    Wrong("0000", .trailingBytes(1), at: 1), Wrong("a0ff", .trailingBytes(1), at: 1),
  ]

  @Test("malformed data is refused at the offset of the error", arguments: malformed)
  func refuses(wrong: Wrong) {
    #expect(throws: wrong.fault) { try CBORItem(decoding: hex(wrong.bytes)) }
  }

  @Test("the depth is limited")
  func depth() throws {
    var limits = CBORLimits()
    limits.depth = 3
    #expect(
      try CBORItem(decoding: hex("818181f6"), limits: limits).encoded == hex("818181f6"))
    #expect(throws: CBORFault(.tooDeep(limit: 3), at: 3)) {
      try CBORItem(decoding: hex("81818181f6"), limits: limits)
    }
    let deep = [UInt8](repeating: 0x9F, count: 60_000)
    #expect(throws: CBORFault(.tooDeep(limit: 12), at: 12)) { try CBORItem(decoding: deep) }
  }

  @Test(
    "the number of items is limited, including tags and parts of strings",
    arguments: ["84010203", "c1c1c1c101", "5f40404040ff"])
  func items(bytes: String) {
    var limits = CBORLimits()
    limits.items = 4
    #expect(throws: CBORFault.self) { try CBORItem(decoding: hex(bytes), limits: limits) }
  }

  @Test("an item decoded from random bytes survives encoding", arguments: [1, 2, 3, 4] as [UInt64])
  func roundTrip(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for _ in 0..<2_000 {
      let item = CBORItem.random(depth: 3, using: &random)
      let bytes = item.encoded
      #expect(try CBORItem(decoding: bytes) == item.sortedByKey, "\(hex(bytes))")
    }
  }
}

struct Mismatch<Value: Sendable>: Error {
  let found: Value
  init(_ found: Value) { self.found = found }
}

extension CBORItem {
  /// An item of any kind, with lengths and numbers near the limits of their encodings.
  static func random(depth: Int, using random: inout SeededRandom) -> CBORItem {
    let borders: [UInt64] = [0, 23, 24, 255, 256, 65535, 65536, 1 << 32 - 1, 1 << 32, .max]
    let number = borders[Int.random(in: 0..<borders.count, using: &random)]
    let length = [0, 1, 23, 24, 30, 256][Int.random(in: 0..<6, using: &random)]
    switch Int.random(in: 0..<(depth > 0 ? 11 : 9), using: &random) {
    case 0: return .unsigned(number)
    case 1: return .negative(number)
    case 2: return .bytes((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
    case 3: return .text(String(repeating: "\u{e4}x", count: length / 2))
    case 4: return .boolean(Bool.random(using: &random))
    case 5: return .null
    case 6: return .undefined
    case 7: return .simple(UInt8.random(in: 32...255, using: &random))
    case 8:
      let value = Double(bitPattern: random.next())
      return .float(value.isNaN ? 0.5 : value)
    case 9: return .array((0..<3).map { _ in Self.random(depth: depth - 1, using: &random) })
    default:
      let pairs = (0..<3).map { index in
        CBORMap.Pair(
          key: .text("\(Int.random(in: 0..<1000, using: &random)).\(index)"),
          value: Self.random(depth: depth - 1, using: &random))
      }
      return .map(CBORMap(pairs: pairs))
    }
  }

  /// The item, with its maps in the order of their encoding.
  var sortedByKey: CBORItem {
    switch self {
    case .array(let elements): .array(elements.map(\.sortedByKey))
    case .map(let map):
      .map(
        CBORMap(
          pairs: map.pairs.map { CBORMap.Pair(key: $0.key, value: $0.value.sortedByKey) }
            .sorted { $0.key.encoded.lexicographicallyPrecedes($1.key.encoded) }))
    default: self
    }
  }
}
