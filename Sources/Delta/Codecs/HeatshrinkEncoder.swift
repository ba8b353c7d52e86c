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
    let references = LongestReferences(index, parameters).find()
    return encode(stream, Tokens(references, parameters))
  }

  /// Returns the smallest of the streams with these parameters (not empty), and its parameters. The
  /// longest references are found once for each window, because the longest reference of limited
  /// length is the start of the longest reference.
  static func smallest(
    _ stream: [UInt8], among parameters: [HeatshrinkParameters], index: StreamIndex
  ) -> (HeatshrinkParameters, [UInt8]) {
    var smallest: (parameters: HeatshrinkParameters, tokens: Tokens)?
    for window in Set(parameters.map(\.window)).sorted() {
      let sameWindow = parameters.filter { $0.window == window }
      guard let longest = sameWindow.max(by: { $0.lookahead < $1.lookahead }) else { continue }
      let references = LongestReferences(index, longest).find()
      for parameters in sameWindow {
        let tokens = Tokens(references, parameters)
        if tokens.bits < smallest?.tokens.bits ?? .max { smallest = (parameters, tokens) }
      }
    }
    guard let smallest else { preconditionFailure("a stream needs parameters") }
    let encoder = HeatshrinkEncoder(smallest.parameters)
    return (smallest.parameters, encoder.encode(stream, smallest.tokens))
  }

  private func encode(_ stream: [UInt8], _ tokens: Tokens) -> [UInt8] {
    let references = tokens.references
    var output = BitWriter(capacity: 2 + tokens.bits / 8)
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
}

/// The cheapest sequence of literals and references.
private struct Tokens {
  /// At the start of each token, the reference; length 0 = a literal.
  private(set) var references: [LongestReferences.Reference]
  /// The number of bits of all tokens.
  private(set) var bits = 0

  /// - Parameter longest: the longest reference at each position. It may be longer than
  ///   `parameters` permit.
  init(_ longest: [LongestReferences.Reference], _ parameters: HeatshrinkParameters) {
    references = longest
    let limit = UInt16(truncatingIfNeeded: parameters.longest)
    let referenceBits = Int32(parameters.referenceBits)
    let literalBits = Int32(HeatshrinkParameters.literalBits)
    var costs = [Int32](repeating: 0, count: references.count + 1)
    references.withUnsafeMutableBufferPointer { references in
      costs.withUnsafeMutableBufferPointer { costs in
        for i in stride(from: references.count - 1, through: 0, by: -1) {
          let literal = literalBits + costs[i + 1]
          let length = min(references[i].length, limit)
          let reference = referenceBits + costs[i + Int(length)]
          let isReference = length > 0 && reference < literal
          references[i].length = isReference ? length : 0
          costs[i] = isReference ? reference : literal
        }
      }
    }
    bits = Int(costs[0])
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
