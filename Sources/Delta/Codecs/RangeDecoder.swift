/// Decodes the content of a patch of format 2 with the adaptive binary range coder.
struct RangeDecoder {
  private var models = RangeModels()
  private var input: PatchInput
  private var range: UInt32 = .max
  private var code: UInt32 = 0

  /// `input` is positioned after the image's size.
  init(_ input: PatchInput) throws(PatchFault) {
    self.input = input
    for _ in 0..<4 { code = code << 8 | UInt32(try self.input.next()) }
  }

  var bytesRead: Int { input.offset }

  func fault(_ reason: PatchFault.Reason) -> PatchFault { input.fault(reason) }

  mutating func number(
    _ field: RangeModels.Field
  ) throws(PatchFault) -> (magnitude: Int, isNegative: Bool) {
    var length = 0
    while try bit(RangeModels.length(of: field) + length) {
      length += 1
      guard length <= RangeModels.lengthMaximum else { throw fault(.numberTooLong) }
    }
    var value = 1
    for _ in 0..<length { value = value << 1 | (try evenBit() ? 1 : 0) }
    let isNegative = field.isSigned && value > 1 ? try bit(RangeModels.sign(of: field)) : false
    return (value - 1, isNegative)
  }

  /// Decodes the bytes of the image for a unit, and passes each byte to `body`.
  mutating func unit(_ unit: PatchUnit, _ body: (UInt8) -> Void) throws(PatchFault) {
    let isWrong = try bit(models.flag(unit))
    models.record(isWrong: isWrong)
    for i in 0..<unit.size {
      let difference = isWrong ? try byte(RangeModels.difference(unit, i)) : 0
      models.last = unit.predicted(i) &+ difference
      body(models.last)
    }
  }

  /// Decodes the new byte at an offset in the image.
  mutating func extra(at offset: Int) throws(PatchFault) -> UInt8 {
    models.last = try byte(models.extra(at: offset))
    return models.last
  }

  /// Checks that the coder and the input end here.
  mutating func finish() throws(PatchFault) {
    try normalize()
    guard code == 0 else { throw fault(.padding) }
    guard input.left == 0 else { throw fault(.bytesBehindEnd(input.left)) }
  }

  private mutating func byte(_ tree: RangeModels.Index) throws(PatchFault) -> UInt8 {
    var node = 1
    while node < 256 { node = node << 1 | (try bit(tree + node) ? 1 : 0) }
    return UInt8(truncatingIfNeeded: node)
  }

  private mutating func bit(_ model: RangeModels.Index) throws(PatchFault) -> Bool {
    try normalize()
    let bound = models.bound(model, range: range)
    let bit = code >= bound
    models.adapt(model, to: bit)
    if bit {
      code -= bound
      range -= bound
    } else {
      range = bound
    }
    return bit
  }

  private mutating func evenBit() throws(PatchFault) -> Bool {
    try normalize()
    range >>= 1
    guard code >= range else { return false }
    code -= range
    return true
  }

  private mutating func normalize() throws(PatchFault) {
    while range < 1 << 24 {
      range <<= 8
      code = code << 8 | UInt32(try input.next())
    }
  }
}
