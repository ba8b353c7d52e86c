/// The bytes of a stream after the zeros that a heatshrink decoder assumes before it, and the ranks
/// of their suffixes. Created once for all parameters.
struct StreamIndex {
  let bytes: [UInt8]
  /// The number of zeros before the stream: the size of the largest window.
  let blank: Int
  /// The rank of the suffix at each position: the number of lesser suffixes.
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

/// The longest reference at every position of a stream. It refers to one of the two suffixes that
/// are nearest in sorted order among all suffixes in the window.
struct LongestReferences {
  struct Reference {
    /// The length of the reference; 0 = no reference.
    var length: UInt16 = 0
    /// The distance of the reference, 1…2^window.
    var distance: UInt16 = 0
  }

  private let index: StreamIndex
  private let parameters: HeatshrinkParameters

  init(_ index: StreamIndex, _ parameters: HeatshrinkParameters) {
    precondition(parameters.reach <= index.blank, "the index is for smaller windows")
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

  /// Whether the longest possible reference continues with the next byte, as in runs of zeros.
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
