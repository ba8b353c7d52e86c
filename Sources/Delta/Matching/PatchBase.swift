/// The base of patches, with an index to find sequences of bytes in it. Created once for all
/// patches against the base. Needs 5 bytes of memory per byte of the base, and 256 KiB.
package struct PatchBase: Sendable {
  package let bytes: [UInt8]
  private let suffixes: [Int32]
  /// The rank, for each pair of bytes, of the first suffix that is not less than the pair, in the
  /// numbering of `Search`.
  private let pairs: [Int32]
  /// The addresses at which the base may start.
  let origins: [UInt32]

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    origins = bytes.isEmpty ? [] : OriginCandidates(bytes).addresses
    suffixes = SuffixArray(bytes).order
    var pairs = [Int32](repeating: 0, count: 0x10001)
    for i in bytes.indices.dropLast() {
      pairs[(Int(bytes[i]) << 8 | Int(bytes[i + 1])) + 1] += 1
    }
    // The empty suffix is less than all pairs. The suffix of one byte is less than the pairs that
    // start with this byte.
    pairs[0] = 1
    if let last = bytes.last { pairs[Int(last) << 8] += 1 }
    for i in 0..<0x10000 { pairs[i + 1] += pairs[i] }
    self.pairs = pairs
  }

  /// A run of bytes found in the base.
  struct Match {
    var position: Int
    var length: Int
  }

  /// Calls a closure with the search, which the closure may use any number of times.
  func withSearch<Result>(_ body: (Search) -> Result) -> Result {
    bytes.withUnsafeBufferPointer { bytes in
      suffixes.withUnsafeBufferPointer { suffixes in
        pairs.withUnsafeBufferPointer { pairs in
          body(Search(bytes: bytes, suffixes: suffixes, pairs: pairs))
        }
      }
    }
  }

  /// A binary search in the sorted suffixes.
  struct Search {
    /// The number of additional bytes that justify leaving an alignment.
    static let worthMore = 16

    let bytes: UnsafeBufferPointer<UInt8>
    let suffixes: UnsafeBufferPointer<Int32>
    let pairs: UnsafeBufferPointer<Int32>

    /// Returns the longest run in the base that is a prefix of `wanted`. It is a prefix of one of
    /// the two suffixes next to `wanted` in sorted order. If several runs have the same length, the
    /// steps of the search determine the result. The steps are the steps of bsdiff, which keep
    /// alignments a little longer: a suffix that is a prefix of `wanted` does not count as less.
    /// `missed` is a run that the search misses because of this rule and that is worth more.
    func longest(_ wanted: UnsafeBufferPointer<UInt8>) -> (match: Match, missed: Match?) {
      let (match, sawEnd) = search(wanted, endIsLess: false)
      guard sawEnd else { return (match, nil) }
      let other = search(wanted, endIsLess: true).match
      return (match, other.length > match.length + Self.worthMore ? other : nil)
    }

    /// Searches for `wanted`. Ranks count from 1; 0 is the empty suffix. `sawEnd`: whether the
    /// search met a suffix that is a prefix of `wanted`.
    private func search(
      _ wanted: UnsafeBufferPointer<UInt8>, endIsLess: Bool
    ) -> (match: Match, sawEnd: Bool) {
      var (low, high) = (0, suffixes.count)
      var (lowShares, highShares) = (-1, -1)
      var sawEnd = false
      if wanted.count > 1 { narrow(&low, &high, wanted) }
      while high - low > 1 {
        let middle = low + (high - low) / 2
        let start = Int(suffixes[middle - 1])
        let shared = agreement(
          bytes, start, wanted, 0, skipping: max(0, min(lowShares, highShares)))
        let isEnd = start + shared == bytes.count
        sawEnd = sawEnd || isEnd
        let isLess =
          isEnd ? endIsLess : shared < wanted.count && bytes[start + shared] < wanted[shared]
        if isLess {
          (low, lowShares) = (middle, shared)
        } else {
          (high, highShares) = (middle, shared)
        }
      }
      if lowShares < 0 { lowShares = share(low, wanted) }
      if highShares < 0 { highShares = share(high, wanted) }
      let (rank, length) = lowShares > highShares ? (low, lowShares) : (high, highShares)
      return (Match(position: Int(suffixes[rank - 1]), length: length), sawEnd)
    }

    /// Performs the steps of the search that the first two bytes determine.
    private func narrow(
      _ low: inout Int, _ high: inout Int, _ wanted: UnsafeBufferPointer<UInt8>
    ) {
      let pair = Int(wanted[0]) << 8 | Int(wanted[1])
      let (first, end) = (Int(pairs[pair]), Int(pairs[pair + 1]))
      while high - low > 1 {
        let middle = low + (high - low) / 2
        if middle >= end {
          high = middle
        } else if middle < first, Int(suffixes[middle - 1]) + 1 < bytes.count {
          low = middle
        } else {
          return
        }
      }
    }

    private func share(_ rank: Int, _ wanted: UnsafeBufferPointer<UInt8>) -> Int {
      rank == 0 ? 0 : agreement(bytes, Int(suffixes[rank - 1]), wanted, 0, skipping: 0)
    }
  }
}
