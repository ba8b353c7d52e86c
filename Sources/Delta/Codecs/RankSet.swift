/// A set of small numbers that finds the nearest member below and above: bits, and four levels of
/// bits that mark the nonempty words below them. Each operation accesses only a few words.
struct RankSet: ~Copyable {
  private static let levelCount = 5
  /// Level 0 has one bit for each number; each further level has one bit for each word of the
  /// previous level.
  private let levels: [UnsafeMutablePointer<UInt64>]
  private let words: UnsafeMutablePointer<UInt64>

  /// Creates an empty set of numbers below `limit`, which is at most 2^30. Operations accept only
  /// such numbers.
  init(below limit: Int) {
    precondition(limit <= 1 << (6 * Self.levelCount), "the limit of a set exceeds 2^30")
    var counts: [Int] = []
    for _ in 0..<Self.levelCount { counts.append(((counts.last ?? limit) + 63) / 64 + 1) }
    let total = counts.reduce(0, +)
    words = .allocate(capacity: total)
    words.initialize(repeating: 0, count: total)
    var levels: [UnsafeMutablePointer<UInt64>] = []
    var start = words
    for count in counts {
      levels.append(start)
      start += count
    }
    self.levels = levels
  }

  deinit { words.deallocate() }

  mutating func insert(_ number: Int) {
    var index = number
    for level in levels {
      let before = level[index >> 6]
      level[index >> 6] = before | 1 << UInt64(index & 63)
      // If the word was not empty, the bits in the levels above are already set.
      if before != 0 { return }
      index >>= 6
    }
  }

  mutating func remove(_ number: Int) {
    var index = number
    for level in levels {
      level[index >> 6] &= ~(1 << UInt64(index & 63))
      if level[index >> 6] != 0 { return }
      index >>= 6
    }
  }

  /// Returns the greatest member less than `number`.
  func below(_ number: Int) -> Int? {
    var index = number
    for height in levels.indices {
      let word = levels[height][index >> 6] & (1 << UInt64(index & 63) - 1)
      if word != 0 {
        var found = (index & ~63) + 63 - word.leadingZeroBitCount
        for level in levels[..<height].reversed() {
          found = found << 6 + 63 - level[found].leadingZeroBitCount
        }
        return found
      }
      index >>= 6
    }
    return nil
  }

  /// Returns the least member greater than `number`.
  func above(_ number: Int) -> Int? {
    var index = number
    for height in levels.indices {
      let word = levels[height][index >> 6] & ~(UInt64.max >> UInt64(63 - index & 63))
      if word != 0 {
        var found = (index & ~63) + word.trailingZeroBitCount
        for level in levels[..<height].reversed() {
          found = found << 6 + level[found].trailingZeroBitCount
        }
        return found
      }
      index >>= 6
    }
    return nil
  }
}
