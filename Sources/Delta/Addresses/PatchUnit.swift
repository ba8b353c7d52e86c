/// The bytes of a difference that are predicted together (docs/delta.md, section 4).
struct PatchUnit {
  /// The classes of units. A plain unit has the upper five bits of its second byte as class.
  enum Kind {
    static let branch = 32
    static let word = 33
    static let byte = 34
  }

  /// 1, 2 or 4 bytes.
  let size: Int
  let kind: Int
  /// The predicted bytes of the image; the first byte has the lowest bits.
  let bytes: UInt32

  /// Creates the unit at an offset in the base and in the image.
  ///
  /// - Parameter left: the number of bytes up to the end of the difference; not 0.
  init(
    of base: UnsafeBufferPointer<UInt8>, at from: Int, to: Int, left: Int, map: AddressMap
  ) {
    let first = UInt32(base[from])
    guard (from | to) & 1 == 0, left > 1 else {
      (size, kind, bytes) = (1, Kind.byte, first)
      return
    }
    let half = first | UInt32(base[from + 1]) << 8
    if left >= 4, !map.entries.isEmpty {
      let word = half | UInt32(base[from + 2]) << 16 | UInt32(base[from + 3]) << 24
      if let distance = ThumbBranch.distance(word) {
        let place = map.origin &+ 4
        let target = place &+ UInt32(from) &+ distance
        let moved = target &+ map.shift(of: target) &- (place &+ UInt32(to))
        (size, kind) = (4, Kind.branch)
        bytes = ThumbBranch.word(word, distance: moved)
        return
      }
      if (from | to) & 3 == 0 {
        let shift = map.shift(of: word)
        if shift != 0 {
          (size, kind, bytes) = (4, Kind.word, word &+ shift)
          return
        }
      }
    }
    (size, kind, bytes) = (2, Int(half >> 11), half)
  }

  func predicted(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: bytes >> UInt32(8 * index)) }
}
