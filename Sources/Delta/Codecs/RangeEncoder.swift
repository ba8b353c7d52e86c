/// Encodes the content of a patch of format 2 with the adaptive binary range coder (docs/delta.md,
/// section 4.3).
struct RangeEncoder {
  private var models = RangeModels()
  private var bytes: [UInt8] = []
  private var low: UInt64 = 0
  private var range: UInt32 = .max
  /// The byte before the lowest 32 bits, and the number of bytes that a carry would change.
  private var cache: UInt8 = 0
  private var pending = 1

  mutating func append(_ number: Int, _ field: RangeModels.Field) {
    let value = UInt32(number.magnitude + 1)
    let length = 31 - value.leadingZeroBitCount
    precondition(length <= RangeModels.lengthMaximum, "a number has more than 31 bits")
    for i in 0..<length { encode(true, RangeModels.length(of: field) + i) }
    encode(false, RangeModels.length(of: field) + length)
    for i in (0..<length).reversed() { encodeEven(value >> UInt32(i) & 1 == 1) }
    if field.isSigned, number != 0 { encode(number < 0, RangeModels.sign(of: field)) }
  }

  /// Appends a unit whose bytes of the image start at an index.
  mutating func append(_ unit: PatchUnit, _ image: UnsafeBufferPointer<UInt8>, at index: Int) {
    let isWrong = (0..<unit.size).contains { image[index + $0] != unit.predicted($0) }
    encode(isWrong, models.flag(unit))
    models.record(isWrong: isWrong)
    if isWrong {
      for i in 0..<unit.size {
        encode(image[index + i] &- unit.predicted(i), RangeModels.difference(unit, i))
      }
    }
    models.last = image[index + unit.size - 1]
  }

  /// Appends a new byte at an offset in the image.
  mutating func append(_ byte: UInt8, at offset: Int) {
    encode(byte, models.extra(at: offset))
    models.last = byte
  }

  /// Returns all bytes.
  consuming func finish() -> [UInt8] {
    for _ in 0..<5 { shift() }
    // The first byte is always 0.
    return Array(bytes.dropFirst())
  }

  private mutating func encode(_ byte: UInt8, _ tree: RangeModels.Index) {
    var node = 1
    for i in (0..<8).reversed() {
      let bit = byte >> UInt8(i) & 1 == 1
      encode(bit, tree + node)
      node = node << 1 | (bit ? 1 : 0)
    }
  }

  private mutating func encode(_ bit: Bool, _ model: RangeModels.Index) {
    let bound = models.bound(model, range: range)
    models.adapt(model, to: bit)
    narrow(bit, bound)
  }

  private mutating func encodeEven(_ bit: Bool) {
    range >>= 1
    if bit { low += UInt64(range) }
    normalize()
  }

  private mutating func narrow(_ bit: Bool, _ bound: UInt32) {
    if bit {
      low += UInt64(bound)
      range -= bound
    } else {
      range = bound
    }
    normalize()
  }

  private mutating func normalize() {
    while range < 1 << 24 {
      range <<= 8
      shift()
    }
  }

  /// Moves the highest byte of `low` out, as soon as no carry can change it.
  private mutating func shift() {
    if low < 0xFF00_0000 || low > 0xFFFF_FFFF {
      let carry = UInt8(truncatingIfNeeded: low >> 32)
      bytes.append(cache &+ carry)
      for _ in 1..<pending { bytes.append(0xFF &+ carry) }
      pending = 0
      cache = UInt8(truncatingIfNeeded: low >> 24)
    }
    pending += 1
    low = (low & 0x00FF_FFFF) << 8
  }
}
