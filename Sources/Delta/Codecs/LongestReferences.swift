/// The bytes of a stream behind zeros, as a heatshrink decoder sees them, and the ranks of their
/// suffixes. Made once for all parameters.
struct StreamIndex {
  let bytes: [UInt8]
  /// Zeros in front of the stream, as many as the largest window holds.
  let blank: Int
  /// For each place, how many suffixes are less than the one that begins there.
  let ranks: [Int32]
  let order: [Int32]

  init(_ stream: [UInt8], reach: Int) {
    blank = reach
    bytes = [UInt8](repeating: 0, count: reach) + stream
    let order = SuffixArray(bytes).order
    var ranks = [Int32](repeating: 0, count: bytes.count)
    for (rank, place) in order.enumerated() { ranks[Int(place)] = Int32(truncatingIfNeeded: rank) }
    (self.order, self.ranks) = (order, ranks)
  }
}

/// The longest reference at every place of a stream: of all suffixes in the window, it is one of
/// the two nearest in the order that share most.
struct LongestReferences {
  struct Reference {
    /// 0 = there is none.
    var length: UInt16 = 0
    /// 1…2^window.
    var distance: UInt16 = 0
  }

  private let index: StreamIndex
  private let parameters: HeatshrinkParameters

  init(_ index: StreamIndex, _ parameters: HeatshrinkParameters) {
    precondition(parameters.reach <= index.blank, "the index was made for smaller windows")
    self.index = index
    self.parameters = parameters
  }

  func find() -> [Reference] {
    index.bytes.withUnsafeBufferPointer { bytes in
      index.ranks.withUnsafeBufferPointer { ranks in
        index.order.withUnsafeBufferPointer { order in
          find(bytes, ranks, order)
        }
      }
    }
  }

  private func find(
    _ bytes: UnsafeBufferPointer<UInt8>, _ ranks: UnsafeBufferPointer<Int32>,
    _ order: UnsafeBufferPointer<Int32>
  ) -> [Reference] {
    var window = RankSet(below: bytes.count)
    for place in index.blank - parameters.reach..<index.blank { window.insert(Int(ranks[place])) }
    var references = [Reference](repeating: Reference(), count: bytes.count - index.blank)
    var previous = Reference()
    for at in index.blank..<bytes.count {
      let rank = Int(ranks[at])
      let limit = min(parameters.longest, bytes.count - at)
      if !isExtended(previous, at, limit, bytes) {
        previous = Reference()
        func consider(_ neighbour: Int?) {
          guard let neighbour else { return }
          let place = Int(order[neighbour])
          let shared = agreement(bytes, place, bytes, at, skipping: 0, limit: limit)
          guard shared > Int(previous.length) else { return }
          previous.length = UInt16(truncatingIfNeeded: shared)
          previous.distance = UInt16(truncatingIfNeeded: at - place)
        }
        consider(window.below(rank))
        if previous.length < limit { consider(window.above(rank)) }
      }
      references[at - index.blank] = previous
      window.insert(rank)
      window.remove(Int(ranks[at - parameters.reach]))
    }
    return references
  }

  /// Whether the longest reference that there can be goes on with the next byte, as in runs of
  /// zeros.
  private func isExtended(
    _ previous: Reference, _ at: Int, _ limit: Int, _ bytes: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    guard Int(previous.length) == parameters.longest, limit == parameters.longest else {
      return false
    }
    let end = at + limit - 1
    return bytes[end] == bytes[end - Int(previous.distance)]
  }
}
