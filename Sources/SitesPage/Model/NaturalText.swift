#if Sites
/// A text in natural order: `door 2` is before `door 10`. Digits are compared as numbers, and
/// letters are compared without case.
struct NaturalText: Comparable, Hashable {
  private let key: [UInt8]

  /// The maximum number of digits of a number; longer numbers are compared as text.
  private static let digitsMaximum = 60

  init(_ text: String) {
    // A sequence of digits is replaced by its length and its digits without leading zeros, so that
    // a comparison of bytes orders the numbers.
    var key: [UInt8] = []
    var digits: [UInt8] = []
    func flush(_ key: inout [UInt8], _ digits: inout [UInt8]) {
      guard !digits.isEmpty else { return }
      let number = digits.drop { $0 == UInt8(ascii: "0") }
      key.append(UInt8(ascii: "0"))
      key.append(UInt8(min(number.count, Self.digitsMaximum)))
      key += number
      digits = []
    }
    for byte in text.lowercased().utf8 {
      if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
        digits.append(byte)
      } else {
        flush(&key, &digits)
        key.append(byte)
      }
    }
    flush(&key, &digits)
    self.key = key
  }

  static func < (left: NaturalText, right: NaturalText) -> Bool {
    left.key.lexicographicallyPrecedes(right.key)
  }
}

extension TablePage where Row == Int {
  /// Creates a page of a list of places. If `page` is after the last page, the last page is
  /// created.
  init(of found: [Int], page: Int, size: Int) {
    let size = min(max(size, DeviceQuery.pageSizes.lowerBound), DeviceQuery.pageSizes.upperBound)
    let page = min(max(page, 1), max(1, (found.count + size - 1) / size))
    self.init(
      rows: Array(found.dropFirst((page - 1) * size).prefix(size)), total: found.count, page: page,
      size: size)
  }
}
#endif
