/// A number in a patch: 6 bits and the sign in the first byte, 7 bits in each further byte, the
/// lowest bits first. Bit 7 of a byte states that another byte follows.
enum PatchNumber {
  /// The maximum of sizes and seeks, because devices read them as numbers of 31 bits.
  static let maximum = Int(Int32.max)

  static func append(_ number: Int, to bytes: inout [UInt8]) {
    precondition(abs(number) <= maximum, "a number of more than 31 bits")
    var rest = abs(number)
    var byte = UInt8(rest & 0x3F) | (number < 0 ? 0x40 : 0)
    rest >>= 6
    while rest > 0 {
      bytes.append(byte | 0x80)
      byte = UInt8(rest & 0x7F)
      rest >>= 7
    }
    bytes.append(byte)
  }
}

/// A reader of a patch's bytes that knows its position.
protocol PatchBytes {
  mutating func next() throws(PatchFault) -> UInt8
  /// Creates a fault at the byte that was read last.
  func fault(_ reason: PatchFault.Reason) -> PatchFault
}

extension PatchBytes {
  /// Reads a number. The sign is returned separately, because a negative zero exists.
  mutating func number() throws(PatchFault) -> (magnitude: Int, isNegative: Bool) {
    var byte = try next()
    let isNegative = byte & 0x40 != 0
    var magnitude = Int(byte & 0x3F)
    var shift = 6
    while byte & 0x80 != 0 {
      byte = try next()
      guard shift < 31 else { throw fault(.numberTooLong) }
      magnitude |= Int(byte & 0x7F) << shift
      guard magnitude <= PatchNumber.maximum else { throw fault(.numberTooLong) }
      shift += 7
    }
    return (magnitude, isNegative)
  }
}
