/// The adaptive models of the range coder of format 2 (docs/delta.md, section 4.3). Each model is
/// the probability of a zero bit in units of 1/4096, and the number of bits that it has seen, at
/// most 15.
struct RangeModels {
  /// The numbers of a patch, each with its own models.
  enum Field: Int {
    case origin, start, shift, seek, difference, extra

    var isSigned: Bool {
      switch self {
      case .origin, .shift, .seek: true
      case .start, .difference, .extra: false
      }
    }
  }

  /// A model by its index.
  typealias Index = Int

  private static let numbers = 35 * 4
  private static let differences = numbers + 6 * 32
  private static let extras = differences + 4 * 256
  private static let count = extras + 6 * 256
  private static let rates: [UInt32] = (0..<16).map { 131072 / (2 * UInt32($0) + 3) }

  private var models = [UInt16](repeating: 0x8000, count: Self.count)
  /// Whether the predictions of the last two units were wrong: bit 0 for the last unit.
  private(set) var history = 0
  /// The last byte that the part created; 0 at its start.
  var last: UInt8 = 0

  /// The first of the 32 models of a number: 31 models of its length, and the model of its sign.
  static func length(of field: Field) -> Index { numbers + 32 * field.rawValue }
  static func sign(of field: Field) -> Index { numbers + 32 * field.rawValue + 31 }
  /// The maximum number of bits after the highest bit of a number plus 1.
  static let lengthMaximum = 30

  /// The model of the flag of the next unit.
  func flag(_ unit: PatchUnit) -> Index { 4 * unit.kind + history }

  mutating func record(isWrong: Bool) { history = (history << 1 | (isWrong ? 1 : 0)) & 3 }

  /// The first model of the tree for a byte of a difference.
  static func difference(_ unit: PatchUnit, _ index: Int) -> Index {
    differences + 256 * ((unit.kind == PatchUnit.Kind.branch ? 2 : 0) + index & 1)
  }

  /// The first model of the tree for a new byte at an offset in the image.
  func extra(at offset: Int) -> Index {
    Self.extras + 256 * (3 * (offset & 1) + (last >= 0x80 ? 2 : last >= 0x20 ? 1 : 0))
  }

  /// The part of a range that belongs to a zero bit.
  func bound(_ index: Index, range: UInt32) -> UInt32 {
    (range >> 12) * UInt32(models[index] >> 4)
  }

  mutating func adapt(_ index: Index, to bit: Bool) {
    let model = UInt32(models[index])
    let (zero, count) = (model >> 4, model & 15)
    let rate = Self.rates[Int(count)]
    let next = bit ? zero - (zero * rate) >> 16 : zero + ((4096 - zero) * rate) >> 16
    models[index] = UInt16(next << 4 | min(15, count + 1))
  }
}
