extension Collection<UInt8> where Index == Int {
  /// Returns the little-endian number at an index, or `nil` if it is not completely within the
  /// bytes.
  func littleEndian<Word: FixedWidthInteger & UnsignedInteger>(
    _: Word.Type = Word.self, at index: Int
  ) -> Word? {
    let size = Word.bitWidth / 8
    guard index >= startIndex, index <= endIndex - size else { return nil }
    return (0..<size).reduce(0) { $0 | Word(self[index + $1]) << (8 * $1) }
  }
}
