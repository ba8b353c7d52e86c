/// Reads the little-endian fields of a message in order, so that nobody else indexes received
/// octets.
package struct OctetReader<Fault: Error> {
  /// What is left to be read.
  package private(set) var rest: ArraySlice<UInt8>
  private let shortage: Fault

  /// - Parameters:
  ///   - octets: the message, from its first field on.
  ///   - shortage: what is thrown where the message ends before its fields do.
  package init(_ octets: some Sequence<UInt8>, orThrow shortage: Fault) {
    rest = ArraySlice(octets)
    self.shortage = shortage
  }

  package mutating func octets(_ count: Int) throws(Fault) -> ArraySlice<UInt8> {
    guard rest.count >= count else { throw shortage }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  package mutating func uint8() throws(Fault) -> UInt8 { try integer() }
  package mutating func uint16() throws(Fault) -> UInt16 { try integer() }
  package mutating func uint32() throws(Fault) -> UInt32 { try integer() }

  private mutating func integer<Value: FixedWidthInteger & UnsignedInteger>() throws(Fault) -> Value
  {
    let field = try octets(Value.bitWidth / 8)
    var value: Value = 0
    for octet in field.reversed() { value = value << 8 | Value(octet) }
    return value
  }
}
