extension FixedWidthInteger where Self: UnsignedInteger {
  /// The bytes of the number, least significant byte first.
  var littleEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> Self(8 * $0)) }
  }
}

extension RandomAccessCollection<UInt8> where Index == Int {
  /// Returns the 32-bit number at an offset from the start. The caller has checked the length.
  func littleEndianWord(at offset: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(self[startIndex + offset + $1]) << UInt32(8 * $1) }
  }

  /// Returns the 16-bit number at an offset from the start. The caller has checked the length.
  func littleEndianHalfword(at offset: Int) -> UInt16 {
    UInt16(self[startIndex + offset]) | UInt16(self[startIndex + offset + 1]) << 8
  }
}
