/// Reads the little-endian fields of a message in order. `Fault` is the decoding error of the
/// message's protocol.
package struct ByteReader<Fault: Error> {
  /// The remaining bytes.
  package private(set) var rest: ArraySlice<UInt8>
  private let shortage: Fault

  /// - Parameters:
  ///   - bytes: the message, from its first field on.
  ///   - shortage: the error if the message ends before its fields.
  package init(_ bytes: some Sequence<UInt8>, orThrow shortage: Fault) {
    rest = ArraySlice(bytes)
    self.shortage = shortage
  }

  package mutating func bytes(_ count: Int) throws(Fault) -> ArraySlice<UInt8> {
    guard rest.count >= count else { throw shortage }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  package mutating func uint8() throws(Fault) -> UInt8 { .init(truncatingIfNeeded: try field(1)) }
  package mutating func uint16() throws(Fault) -> UInt16 { .init(truncatingIfNeeded: try field(2)) }
  package mutating func uint32() throws(Fault) -> UInt32 { .init(truncatingIfNeeded: try field(4)) }

  /// Reads an unsigned field of 1…8 bytes. All sizes use one integer type, because generic
  /// arithmetic is a hundred times slower, and every Status is read by this function.
  private mutating func field(_ size: Int) throws(Fault) -> UInt64 {
    var value: UInt64 = 0
    for byte in try bytes(size).reversed() { value = value << 8 | UInt64(byte) }
    return value
  }
}
