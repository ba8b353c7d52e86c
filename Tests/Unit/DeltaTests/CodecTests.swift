import OtaflashTestSupport
import Testing

@testable import OtaflashDelta

@Suite struct CodecTests {
  static let parameters = [(4, 3), (5, 4), (8, 4), (8, 7), (10, 8), (11, 10), (14, 13)]
    .compactMap { HeatshrinkParameters(window: $0.0, lookahead: $0.1) }

  static func samples() -> [[UInt8]] {
    var random = SplitMix64(seed: 77)
    var samples: [[UInt8]] = [[], [0], [1], [0, 0], [7, 7, 7, 7, 7, 7, 7]]
    for kinds in [1, 2, 4, 256] {
      for count in [3, 60, 700] { samples.append(random.bytes(count, kinds: kinds)) }
    }
    let piece = random.bytes(90)
    samples.append(piece + piece + [1] + piece.reversed() + piece)
    samples.append((0..<900).map { $0 % 41 == 0 ? UInt8($0 % 7) : 0 })
    return samples
  }

  /// The number of bits of the cheapest encoding, found by trying every reference at every
  /// position.
  private func leastBits(_ stream: [UInt8], _ parameters: HeatshrinkParameters) -> Int {
    let bytes = [UInt8](repeating: 0, count: parameters.reach) + stream
    var costs = [Int](repeating: 0, count: bytes.count + 1)
    for at in stride(from: bytes.count - 1, through: parameters.reach, by: -1) {
      costs[at] = HeatshrinkParameters.literalBits + costs[at + 1]
      for place in at - parameters.reach..<at {
        var length = 0
        while length < parameters.longest, at + length < bytes.count,
          bytes[place + length] == bytes[at + length]
        {
          length += 1
          costs[at] = min(costs[at], parameters.referenceBits + costs[at + length])
        }
      }
    }
    return costs[parameters.reach]
  }

  @Test(arguments: parameters)
  func heatshrinkNeedsTheFewestBits(_ parameters: HeatshrinkParameters) throws {
    for sample in Self.samples() where sample.count * parameters.reach < 100_000 {
      let index = StreamIndex(sample, reach: 1 << 14)
      let encoded = HeatshrinkEncoder(parameters).encode(sample, index: index)
      #expect(encoded.count == 1 + (leastBits(sample, parameters) + 7) / 8)
    }
  }

  @Test(arguments: [PatchCodec.none, .crle] + parameters.map(PatchCodec.heatshrink))
  func compressedStreamsAreDecompressed(_ codec: PatchCodec) throws {
    for sample in Self.samples() where !sample.isEmpty {
      var stream = try PatchDecompressor(
        codec.number, PatchInput(codec.compress(sample, index: nil)[...]))
      var read: [UInt8] = []
      for _ in sample { read.append(try stream.next()) }
      #expect(read == sample)
      #expect(stream.codec == codec)
      try stream.finish()
    }
  }

  /// The number of bytes of the cheapest blocks, found by trying every block at every position.
  private func leastBytes(_ stream: [UInt8]) -> Int {
    func lengthSize(_ length: Int) -> Int { length < 128 ? 1 : length < 16384 ? 2 : 3 }
    var costs = [0]
    for end in 1..<stream.count + 1 {
      var isRun = true
      var least = Int.max
      for start in (0..<end).reversed() {
        isRun = isRun && stream[start] == stream[end - 1]
        let length = end - start
        let header = costs[start] + 1 + lengthSize(length)
        least = min(least, header + (isRun ? 1 : length))
      }
      costs.append(least)
    }
    return costs[stream.count]
  }

  @Test func crleNeedsTheFewestBytes() {
    for sample in Self.samples() where !sample.isEmpty {
      #expect(CRLEEncoder.encode(sample).count == leastBytes(sample))
    }
    var random = SplitMix64(seed: 1)
    for _ in 0..<200 {
      var sample: [UInt8] = []
      for _ in 0..<12 {
        let length = [1, 2, 3, 4, 5, 6, 90, 127, 128, 129].randomElement(using: &random) ?? 1
        sample += [UInt8](repeating: .random(in: 0..<3, using: &random), count: length)
      }
      #expect(CRLEEncoder.encode(sample).count == leastBytes(sample))
    }
    #expect(CRLEEncoder.encode([]) == [0, 0])
  }

  @Test func invalidHeatshrinkParametersAreRejected() {
    for (window, lookahead) in [(3, 3), (15, 4), (8, 8), (8, 2), (4, 4)] {
      #expect(HeatshrinkParameters(window: window, lookahead: lookahead) == nil)
    }
    for byte in UInt8.min...UInt8.max {
      if let parameters = HeatshrinkParameters(byte: byte) { #expect(parameters.byte == byte) }
    }
  }
}
