/// The sorted suffixes of a byte sequence, computed by induced sorting (Nong, Zhang and Chan, "Two
/// Efficient Algorithms for Linear Time Suffix Array Construction", 2011). The algorithm needs
/// linear time, and about 9 bytes of memory per byte in addition to the result.
struct SuffixArray: Sendable {
  /// The offsets of the suffixes in ascending order of the suffixes. A prefix is less than a longer
  /// suffix.
  let order: [Int32]

  init(_ bytes: [UInt8]) {
    precondition(bytes.count < Int(Int32.max), "a position must fit 32 bits")
    order = bytes.withUnsafeBufferPointer { text in
      [Int32](unsafeUninitializedCapacity: text.count) { order, count in
        count = text.count
        InducedSorting(text, symbols: 256).sort(into: order)
      }
    }
  }
}

/// One level of induced sorting. Its text consists of bytes, or of the names from the level above.
private struct InducedSorting<Symbol: FixedWidthInteger> {
  let text: UnsafeBufferPointer<Symbol>
  /// The limit of the symbols: all are below this number.
  let symbols: Int
  /// Whether a suffix is less than its successor (type S); all other suffixes are of type L.
  private let isLess: [Bool]
  /// The start of each symbol's suffixes in sorted order, followed by the end of the last symbol's
  /// suffixes.
  private let buckets: [Int32]

  init(_ text: UnsafeBufferPointer<Symbol>, symbols: Int) {
    self.text = text
    self.symbols = symbols
    isLess = [Bool](unsafeUninitializedCapacity: text.count) { isLess, count in
      count = text.count
      guard !text.isEmpty else { return }
      isLess[text.count - 1] = false
      for i in stride(from: text.count - 2, through: 0, by: -1) {
        isLess[i] = text[i] < text[i + 1] || (text[i] == text[i + 1] && isLess[i + 1])
      }
    }
    var buckets = [Int32](repeating: 0, count: symbols + 1)
    for symbol in text { buckets[Int(symbol) + 1] += 1 }
    for i in 0..<symbols { buckets[i + 1] += buckets[i] }
    self.buckets = buckets
  }

  func sort(into order: UnsafeMutableBufferPointer<Int32>) {
    let marks = leftmostLess()
    induce(from: marks, into: order)
    guard marks.count > 1 else { return }
    let sorted = order.filter { isMark(Int($0)) }
    induce(from: orderOfMarks(marks, sortedByFirstPart: sorted), into: order)
  }

  /// Whether this is the position of a mark: a suffix of type S that follows a suffix of type L.
  private func isMark(_ i: Int) -> Bool { i > 0 && isLess[i] && !isLess[i - 1] }

  private func leftmostLess() -> [Int32] {
    (0..<Int32(text.count)).filter { isMark(Int($0)) }
  }

  /// Sorts all suffixes as far as the marks are sorted: suffixes of type L from the left, and
  /// suffixes of type S from the right.
  private func induce(from marks: [Int32], into order: UnsafeMutableBufferPointer<Int32>) {
    order.update(repeating: -1)
    guard let last = text.indices.last else { return }
    var ends = Array(buckets.dropFirst())
    var starts = buckets
    isLess.withUnsafeBufferPointer { isLess in
      ends.withUnsafeMutableBufferPointer { ends in
        for mark in marks.reversed() {
          let symbol = Int(text[Int(mark)])
          ends[symbol] -= 1
          order[Int(ends[symbol])] = mark
        }
      }
      starts.withUnsafeMutableBufferPointer { starts in
        func append(_ i: Int) {
          let symbol = Int(text[i])
          order[Int(starts[symbol])] = Int32(truncatingIfNeeded: i)
          starts[symbol] += 1
        }
        append(last)
        for rank in 0..<order.count {
          let before = Int(order[rank]) - 1
          if before >= 0, !isLess[before] { append(before) }
        }
      }
      ends = Array(buckets.dropFirst())
      ends.withUnsafeMutableBufferPointer { ends in
        for rank in stride(from: order.count - 1, through: 0, by: -1) {
          let before = Int(order[rank]) - 1
          guard before >= 0, isLess[before] else { continue }
          let symbol = Int(text[before])
          ends[symbol] -= 1
          order[Int(ends[symbol])] = Int32(truncatingIfNeeded: before)
        }
      }
    }
  }

  /// Sorts the marks by their complete suffixes. The parts up to the next mark receive names in
  /// sorted order. If two parts have the same name, the text of names is sorted at the next level.
  private func orderOfMarks(_ marks: [Int32], sortedByFirstPart sorted: [Int32]) -> [Int32] {
    var numbers = [Int32](repeating: -1, count: text.count)
    for (number, mark) in marks.enumerated() { numbers[Int(mark)] = Int32(number) }
    func end(_ mark: Int32) -> Int {
      let next = Int(numbers[Int(mark)]) + 1
      return next < marks.count ? Int(marks[next]) : text.count
    }
    var names = [Int32](repeating: 0, count: marks.count)
    var name: Int32 = 0
    for i in 1..<sorted.count {
      if !samePart(Int(sorted[i - 1]), end(sorted[i - 1]), Int(sorted[i]), end(sorted[i])) {
        name += 1
      }
      names[Int(numbers[Int(sorted[i])])] = name
    }
    guard Int(name) + 1 < marks.count else { return sorted }
    let below = names.withUnsafeBufferPointer { names in
      [Int32](unsafeUninitializedCapacity: names.count) { order, count in
        count = names.count
        InducedSorting<Int32>(names, symbols: Int(name) + 1).sort(into: order)
      }
    }
    return below.map { marks[Int($0)] }
  }

  /// Whether two parts are equal, including the mark at their end.
  private func samePart(_ a: Int, _ endOfA: Int, _ b: Int, _ endOfB: Int) -> Bool {
    guard endOfA - a == endOfB - b, endOfA < text.count, endOfB < text.count else { return false }
    return (0...endOfA - a).allSatisfy { text[a + $0] == text[b + $0] }
  }
}
