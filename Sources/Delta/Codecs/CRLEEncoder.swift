/// Encodes CRLE with the minimum number of bytes that its format permits.
///
/// A block contains scattered bytes or one repeated byte, preceded by kind and length. Only
/// complete runs are worth repeating. After each run, the encoding therefore ends in one of two
/// ways: with the run as a repeated block, or within a scattered block, whose first byte is the
/// first byte of the stream or follows a repeated block.
struct CRLEEncoder {
  static let scattered: UInt8 = 0
  static let repeated: UInt8 = 1

  /// A position where a scattered block may start, and the cost of the blocks before it minus its
  /// offset.
  private struct Start {
    var offset: Int
    var cost: Int
  }

  /// The cheapest last block if the encoding ends after a run.
  private struct Ending {
    var end: Int
    var start: Int
    var isRepeated: Bool
  }

  static func encode(_ stream: [UInt8]) -> [UInt8] {
    guard !stream.isEmpty else { return [scattered, 0] }
    var output: [UInt8] = []
    for block in blocks(of: stream) {
      output.append(block.isRepeated ? repeated : scattered)
      appendLength(block.end - block.start, to: &output)
      output += stream[block.start..<(block.isRepeated ? block.start + 1 : block.end)]
    }
    return output
  }

  private static func blocks(of stream: [UInt8]) -> [Ending] {
    var starts = [Start(offset: 0, cost: 0)]
    var endings: [Ending] = []
    var costBefore = 0
    for run in runs(of: stream) {
      let repeatedCost = costBefore + 2 + lengthSize(run.count)
      // A block that starts later has fewer bytes, which `cost` takes into account, and a length
      // field that is at most 3 bytes shorter. Therefore, only a few starts need to be kept.
      var best = (start: 0, cost: Int.max)
      for start in starts {
        let length = run.upperBound - start.offset
        let cost = start.cost + run.upperBound + 1 + lengthSize(length)
        if cost < best.cost { best = (start.offset, cost) }
      }
      if repeatedCost < best.cost {
        endings.append(Ending(end: run.upperBound, start: run.lowerBound, isRepeated: true))
        keep(Start(offset: run.upperBound, cost: repeatedCost - run.upperBound), in: &starts)
      } else {
        endings.append(Ending(end: run.upperBound, start: best.start, isRepeated: false))
      }
      costBefore = min(repeatedCost, best.cost)
    }
    return chain(endings)
  }

  /// Adds a start. Earlier starts that are not cheaper are discarded. The new start is also
  /// discarded if it is more expensive than the cheapest start by more than the growth of a length
  /// field.
  private static func keep(_ start: Start, in starts: inout [Start]) {
    while let last = starts.last, last.cost >= start.cost { starts.removeLast() }
    if let cheapest = starts.first, start.cost > cheapest.cost + 3 { return }
    starts.append(start)
  }

  /// The sequence of endings that leads to the last ending.
  private static func chain(_ endings: [Ending]) -> [Ending] {
    var chain: [Ending] = []
    for ending in endings.reversed() where chain.last.map({ $0.start == ending.end }) ?? true {
      chain.append(ending)
    }
    return chain.reversed()
  }

  private static func runs(of stream: [UInt8]) -> some Sequence<Range<Int>> {
    sequence(state: 0) { (start: inout Int) -> Range<Int>? in
      guard start < stream.count else { return nil }
      var end = start + 1
      while end < stream.count, stream[end] == stream[start] { end += 1 }
      defer { start = end }
      return start..<end
    }
  }

  /// Appends a length: 7 bits per byte, the lowest bits first.
  static func appendLength(_ length: Int, to output: inout [UInt8]) {
    var rest = length
    while rest > 0x7F {
      output.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    output.append(UInt8(rest))
  }

  private static func lengthSize(_ length: Int) -> Int {
    length < 0x80 ? 1 : (length.bitWidth - length.leadingZeroBitCount + 6) / 7
  }
}
