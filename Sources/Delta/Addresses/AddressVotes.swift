/// The movements of addresses that the similar parts of a base and an image show, and the address
/// map that suits them best.
struct AddressVotes {
  private struct Vote {
    let address: UInt32
    let shift: UInt32
    /// The cost in bits if the map moves the address by another shift.
    let weight: Int32
  }

  /// The approximate cost in bits of a wrong branch, a wrong pointer, and a word that is moved
  /// although it is no pointer.
  private static let (branch, pointer, constant): (Int32, Int32, Int32) = (18, 20, 24)
  /// The approximate cost in bits of an entry of the map.
  private static let entry: Int32 = 36
  /// The exclusive limit of the magnitude of a shift. A patch contains differences of two shifts,
  /// and the magnitude of a difference plus 1 must fit into 31 bits.
  private static let shiftMaximum: UInt32 = 1 << 30

  private let origin: UInt32
  private var votes: [Vote] = []

  /// - Parameters:
  ///   - steps: the similar parts.
  ///   - offset: the offset in the image of the first step.
  init(
    _ steps: [MappedStep], from base: UnsafeBufferPointer<UInt8>,
    to image: UnsafeBufferPointer<UInt8>, offset: Int, origin: UInt32
  ) {
    self.origin = origin
    var at = 0
    for step in steps {
      collect(step, base, image, at: at, offset: offset)
      at += step.difference + step.extra
    }
    votes.sort { ($0.address, $0.shift) < ($1.address, $1.shift) }
  }

  private mutating func collect(
    _ step: MappedStep, _ base: UnsafeBufferPointer<UInt8>, _ image: UnsafeBufferPointer<UInt8>,
    at: Int, offset: Int
  ) {
    let to = at + offset
    guard (step.from ^ to) & 1 == 0 else { return }
    let isAligned = (step.from ^ to) & 3 == 0
    var i = step.from & 1
    while i + 4 <= step.difference {
      let (old, new) = (Self.word(base, step.from + i), Self.word(image, at + i))
      if let distance = ThumbBranch.distance(old) {
        if let moved = ThumbBranch.distance(new) {
          let target = origin &+ UInt32(step.from + i + 4) &+ distance
          let shift = origin &+ UInt32(to + i + 4) &+ moved &- target
          append(Vote(address: target, shift: shift, weight: Self.branch))
        }
        i += 4
        continue
      }
      if isAligned, (step.from + i) & 3 == 0 {
        append(
          Vote(
            address: old & ~1, shift: new &- old,
            weight: new == old ? Self.constant : Self.pointer))
      }
      i += 2
    }
  }

  private mutating func append(_ vote: Vote) {
    if Int32(bitPattern: vote.shift).magnitude < Self.shiftMaximum { votes.append(vote) }
  }

  private static func word(_ bytes: UnsafeBufferPointer<UInt8>, _ i: Int) -> UInt32 {
    UInt32(bytes[i]) | UInt32(bytes[i + 1]) << 8 | UInt32(bytes[i + 2]) << 16
      | UInt32(bytes[i + 3]) << 24
  }

  /// Returns the map with the lowest cost, and this cost in bits. If the map has too many entries,
  /// the search is repeated with a higher cost for each entry.
  func best() -> (map: AddressMap, cost: Int32) {
    var entry = Self.entry
    while true {
      let (entries, cost) = search(entry: entry)
      if entries.count <= AddressMap.entryMaximum {
        return (AddressMap(origin: origin, entries: entries), cost)
      }
      entry += entry / 4
    }
  }

  /// An entry of a possible map, and the index of the node with the previous entry.
  private struct Node {
    let before: Int
    let entry: AddressMap.Entry
  }

  /// The cheapest map whose last entry has a certain shift. Its cost is relative to `missed`.
  private struct End {
    var cost: Int32
    var node: Int
  }

  /// Finds the cheapest sequence of shifts for the addresses in ascending order.
  private func search(entry: Int32) -> (entries: [AddressMap.Entry], cost: Int32) {
    var nodes = [Node(before: -1, entry: AddressMap.Entry(start: 0, shift: 0))]
    var ends: [UInt32: End] = [0: End(cost: 0, node: 0)]
    var missed: Int32 = 0
    var best = (shift: UInt32(0), end: End(cost: 0, node: 0))
    var first = 0
    while first < votes.count {
      let address = votes[first].address
      var last = first
      var weight: Int32 = 0
      while last < votes.count, votes[last].address == address {
        weight += votes[last].weight
        last += 1
      }
      let start = best.end
      var next = first
      while next < last {
        let shift = votes[next].shift
        var agreed: Int32 = 0
        while next < last, votes[next].shift == shift {
          agreed += votes[next].weight
          next += 1
        }
        // The comparison uses the costs before the votes of this address are counted.
        var end = ends[shift] ?? End(cost: .max, node: 0)
        if start.cost + entry < end.cost {
          nodes.append(
            Node(before: start.node, entry: AddressMap.Entry(start: address, shift: shift)))
          end = End(cost: start.cost + entry, node: nodes.count - 1)
        }
        end.cost -= agreed
        ends[shift] = end
        if end.cost < best.end.cost { best = (shift, end) }
      }
      missed += weight
      first = last
    }
    var entries: [AddressMap.Entry] = []
    var node = best.end.node
    while node > 0 {
      entries.append(nodes[node].entry)
      node = nodes[node].before
    }
    return (entries.reversed(), missed + best.end.cost)
  }
}
