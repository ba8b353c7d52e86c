import OtaflashWire

/// An error in a message of the OTA service.
package enum OTADecodeFault: Error, Equatable, Sendable, CustomStringConvertible {
  case tooShort(String, bytes: Int)
  case unknownValue(String, UInt8)
  case wrongAnswer(expected: UInt8, got: UInt8)

  package var description: String {
    switch self {
    case .tooShort(let message, let bytes):
      "the \(message) message ends after \(bytes) bytes, before its fields do"
    case .unknownValue(let field, let value):
      "the \(field) field has the value \(value), which protocol version 1 does not define"
    case .wrongAnswer(let expected, let got):
      "operation \(expected) was answered with opcode \(got)"
    }
  }
}

extension ByteReader<OTADecodeFault> {
  /// Reads a message of the OTA service. Bytes after the last known field are ignored: later
  /// versions append fields.
  init(_ bytes: [UInt8], of message: String) {
    self.init(bytes, orThrow: .tooShort(message, bytes: bytes.count))
  }
}
