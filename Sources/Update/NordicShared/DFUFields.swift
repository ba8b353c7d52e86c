/// What is wrong with a message of one of Nordic's DFU services, as a clause for people.
package enum DFUDecodeFault: Error, Equatable, Sendable, CustomStringConvertible {
  case empty
  case wrongLength(String, octets: Int, expected: Int)
  case unknownOpcode(UInt8)
  case unknownValue(String, UInt8)

  package var description: String {
    switch self {
    case .empty: "a message without octets"
    case .wrongLength(let message, let octets, let expected):
      "the \(message) message has \(octets) octets, not \(expected)"
    case .unknownOpcode(let opcode): "the opcode \(opcode), which the service does not define"
    case .unknownValue(let field, let value):
      "the \(field) field has the value \(value), which the service does not define"
    }
  }
}

/// Reads the little-endian fields of a message whose length is known from its opcode.
struct DFUReader {
  private let bytes: [UInt8]
  private var position = 0

  /// - Throws: `.wrongLength` unless `bytes` has exactly `expected` octets.
  init(
    _ bytes: [UInt8], of message: String, expecting expected: Int
  ) throws(DFUDecodeFault) {
    guard bytes.count == expected else {
      throw .wrongLength(message, octets: bytes.count, expected: expected)
    }
    self.bytes = bytes
  }

  mutating func uint8() -> UInt8 { UInt8(truncatingIfNeeded: integer(octets: 1)) }

  mutating func uint16() -> UInt16 { UInt16(truncatingIfNeeded: integer(octets: 2)) }

  mutating func uint32() -> UInt32 { integer(octets: 4) }

  /// Reading past the end is a bug here: `init` has compared the length.
  private mutating func integer(octets count: Int) -> UInt32 {
    defer { position += count }
    return bytes[position..<position + count].reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
