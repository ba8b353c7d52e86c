import OtaflashWire

/// An error in a message of one of Nordic's DFU services; the description is a clause.
package enum DFUDecodeFault: Error, Equatable, Sendable, CustomStringConvertible {
  case empty
  case wrongLength(String, bytes: Int, expected: Int)
  case unknownOpcode(UInt8)
  case unknownValue(String, UInt8)

  package var description: String {
    switch self {
    case .empty: "a message without bytes"
    case .wrongLength(let message, let bytes, let expected):
      "the \(message) message has \(bytes) bytes, not \(expected)"
    case .unknownOpcode(let opcode): "the opcode \(opcode), which the service does not define"
    case .unknownValue(let field, let value):
      "the \(field) field has the value \(value), which the service does not define"
    }
  }
}

extension ByteReader<DFUDecodeFault> {
  /// Reads a message of Nordic's DFU services, whose length follows from its opcode.
  ///
  /// - Throws: `.wrongLength` unless there are exactly `expected` bytes.
  init(
    _ bytes: [UInt8], of message: String, expecting expected: Int
  ) throws(DFUDecodeFault) {
    let fault = DFUDecodeFault.wrongLength(message, bytes: bytes.count, expected: expected)
    guard bytes.count == expected else { throw fault }
    self.init(bytes, orThrow: fault)
  }
}
