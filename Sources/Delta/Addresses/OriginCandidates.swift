/// Addresses at which a base may start: 0, `separate`, and then the most likely addresses in
/// ascending order. If the base starts at a likely address, many of its words point to targets of
/// its branches.
struct OriginCandidates {
  /// An address at which no microcontroller has memory: with this origin, branches and pointers
  /// share no entries of the address map.
  private static let separate: UInt32 = 0xB000_0000
  /// The format has no number for this address.
  private static let impossible: UInt32 = 0x8000_0000
  /// Images start at multiples of this size.
  private static let alignment = 0x100
  private static let page: UInt32 = 0x1000
  /// The maximum numbers of words, and of targets with the same remainder, that are compared. The
  /// effort would otherwise be quadratic for images of several MiB, and a part of their words is
  /// sufficient to find the address.
  private static let (wordsMaximum, targetsMaximum) = (1 << 17, 128)

  let addresses: [UInt32]

  init(_ base: [UInt8]) {
    let counts = Self.counts(base)
    let best = counts.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.map(\.key)
    let pages = best.lazy.filter { $0 % Self.page == 0 }.prefix(2)
    addresses = [0, Self.separate] + Set(best.prefix(2)).union(pages).subtracting([0]).sorted()
  }

  /// Returns, for each address, the number of pointers to targets of branches if the base starts at
  /// this address. Addresses with fewer than eight such pointers are omitted.
  private static func counts(_ base: [UInt8]) -> [UInt32: Int] {
    var targets = [[UInt32]](repeating: [], count: alignment)
    var words: Set<UInt32> = []
    base.withUnsafeBufferPointer { base in
      func word(_ i: Int) -> UInt32 {
        UInt32(base[i]) | UInt32(base[i + 1]) << 8 | UInt32(base[i + 2]) << 16
          | UInt32(base[i + 3]) << 24
      }
      var known = [Bool](repeating: false, count: base.count)
      for i in stride(from: 0, to: max(0, base.count - 3), by: 2) {
        let word = word(i)
        if i % 4 == 0, word & 1 == 1 { words.insert(word - 1) }
        guard let distance = ThumbBranch.distance(word) else { continue }
        let target = Int(Int32(bitPattern: UInt32(i + 4) &+ distance))
        guard base.indices.contains(target), !known[target] else { continue }
        known[target] = true
        targets[target % alignment].append(UInt32(target))
      }
    }
    var counts: [UInt32: Int] = [:]
    targets = targets.map { sample($0, targetsMaximum) }
    for word in sample(words.sorted(), wordsMaximum) {
      for target in targets[Int(word) % alignment] where target <= word {
        counts[word - target, default: 0] += 1
      }
    }
    return counts.filter { $0.value > 7 && $0.key != Self.impossible }
  }
  /// Returns at most `maximum` elements at equal distances.
  private static func sample(_ elements: [UInt32], _ maximum: Int) -> [UInt32] {
    let distance = (elements.count + maximum - 1) / maximum
    guard distance > 1 else { return elements }
    return stride(from: 0, to: elements.count, by: distance).map { elements[$0] }
  }
}
