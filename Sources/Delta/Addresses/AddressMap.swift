/// The movement of addresses from the base to an image: each address moves by the shift of the last
/// entry that starts at or before it, and addresses before the first entry do not move
/// (docs/delta.md, section 4).
struct AddressMap: Equatable, Sendable {
  struct Entry: Equatable, Sendable {
    /// An even address.
    var start: UInt32
    /// The distance of the movement, modulo 2^32.
    var shift: UInt32
  }

  /// The maximum number of entries, for which devices reserve memory.
  static let entryMaximum = 128

  /// The address of the first byte of the base and of the image.
  var origin: UInt32 = 0
  var entries: [Entry] = []

  func shift(of address: UInt32) -> UInt32 {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].start <= address { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? 0 : entries[low - 1].shift
  }

  /// The numbers that describe the entries: the distance of each start from the previous start, in
  /// units of two bytes, and the change of the shift.
  var steps: [(distance: Int, change: Int)] {
    var before = Entry(start: 0, shift: 0)
    return entries.map { entry in
      defer { before = entry }
      return (
        distance: Int((entry.start - before.start) / 2),
        change: Int(Int32(bitPattern: entry.shift &- before.shift))
      )
    }
  }
}
