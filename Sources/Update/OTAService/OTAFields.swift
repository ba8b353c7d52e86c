/// What is wrong with a message of the OTA service.
package enum OTADecodeFault: Error, Equatable, Sendable, CustomStringConvertible {
  case tooShort(String, octets: Int)
  case unknownValue(String, UInt8)
  case wrongAnswer(expected: UInt8, got: UInt8)

  package var description: String {
    switch self {
    case .tooShort(let message, let octets):
      "the \(message) message ends after \(octets) octets, before its fields do"
    case .unknownValue(let field, let value):
      "the \(field) field has the value \(value), which protocol version 1 does not define"
    case .wrongAnswer(let expected, let got):
      "operation \(expected) was answered with opcode \(got)"
    }
  }
}

/// Reads the little-endian fields of a message, in order. Octets behind the last known field are
/// left alone: later versions append fields.
struct OTAReader {
  private let bytes: [UInt8]
  private let message: String
  private var position = 0

  init(_ bytes: [UInt8], of message: String) {
    self.bytes = bytes
    self.message = message
  }

  mutating func octets(_ count: Int) throws(OTADecodeFault) -> ArraySlice<UInt8> {
    guard bytes.count - position >= count else { throw .tooShort(message, octets: bytes.count) }
    defer { position += count }
    return bytes[position..<position + count]
  }

  mutating func uint8() throws(OTADecodeFault) -> UInt8 {
    let field = try octets(1)
    return field[field.startIndex]
  }

  mutating func uint16() throws(OTADecodeFault) -> UInt16 {
    UInt16(truncatingIfNeeded: try integer(octets: 2))
  }

  mutating func uint32() throws(OTADecodeFault) -> UInt32 { try integer(octets: 4) }

  private mutating func integer(octets count: Int) throws(OTADecodeFault) -> UInt32 {
    try octets(count).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Everything behind the fields read so far.
  var rest: [UInt8] { Array(bytes[position...]) }
}

/// Writes little-endian fields.
struct OTAWriter {
  private(set) var bytes: [UInt8] = []

  mutating func uint8(_ value: UInt8) { bytes.append(value) }

  mutating func uint16(_ value: UInt16) {
    bytes.append(UInt8(truncatingIfNeeded: value))
    bytes.append(UInt8(value >> 8))
  }

  mutating func uint32(_ value: UInt32) {
    uint16(UInt16(truncatingIfNeeded: value))
    uint16(UInt16(value >> 16))
  }

  mutating func octets(_ value: some Sequence<UInt8>) { bytes += value }
}
