/// Encodes heatshrink with the minimum number of bits that its format permits.
///
/// All literals have the same cost, and all references have the same cost, regardless of length and
/// distance. Removing the first byte of a stream never increases its cost, so the longest reference
/// at a position is as good as any shorter reference. One pass from the end finds the cheapest
/// encoding.
struct HeatshrinkEncoder {
  private let parameters: HeatshrinkParameters

  init(_ parameters: HeatshrinkParameters) { self.parameters = parameters }

  func encode(_ stream: [UInt8], index: StreamIndex) -> [UInt8] {
    var references = LongestReferences(index, parameters).find()
    let bits = choose(&references)
    var output = BitWriter(capacity: 2 + bits / 8)
    output.append(UInt32(parameters.byte), bits: 8)
    var at = 0
    while at < stream.count {
      let reference = references[at]
      if reference.length == 0 {
        output.append(0x100 | UInt32(stream[at]), bits: HeatshrinkParameters.literalBits)
        at += 1
      } else {
        let value =
          (UInt32(reference.distance) - 1) << UInt32(parameters.lookahead)
          | (UInt32(reference.length) - 1)
        output.append(value, bits: parameters.referenceBits)
        at += Int(reference.length)
      }
    }
    return output.finish()
  }

  /// Keeps only the worthwhile references at the starts of tokens. Returns the number of bits of
  /// all tokens.
  private func choose(_ references: inout [LongestReferences.Reference]) -> Int {
    let referenceBits = Int32(parameters.referenceBits)
    let literalBits = Int32(HeatshrinkParameters.literalBits)
    var costs = [Int32](repeating: 0, count: references.count + 1)
    for i in stride(from: references.count - 1, through: 0, by: -1) {
      let literal = literalBits + costs[i + 1]
      let length = Int(references[i].length)
      let reference = referenceBits + costs[i + length]
      if length > 0 && reference < literal {
        costs[i] = reference
      } else {
        costs[i] = literal
        references[i].length = 0
      }
    }
    return Int(costs[0])
  }
}

/// A writer of bits, the most significant bit first.
private struct BitWriter {
  private var bytes: [UInt8] = []
  private var pending: UInt64 = 0
  private var count = 0

  init(capacity: Int) { bytes.reserveCapacity(capacity) }

  mutating func append(_ value: UInt32, bits: Int) {
    pending = pending << UInt64(bits) | UInt64(value)
    count += bits
    while count >= 8 {
      count -= 8
      bytes.append(UInt8(truncatingIfNeeded: pending >> UInt64(count)))
    }
  }

  /// Returns all bytes; the last byte is padded with zeros.
  consuming func finish() -> [UInt8] {
    if count > 0 { append(0, bits: 8 - count) }
    return bytes
  }
}
