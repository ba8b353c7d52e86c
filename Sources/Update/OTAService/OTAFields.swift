import OtaflashWire

/// What is wrong with a message of the OTA service.
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

/// Bytes behind the last known field are left alone: later versions append fields.
typealias OTAReader = ByteReader<OTADecodeFault>

extension OTAReader {
  init(_ bytes: [UInt8], of message: String) {
    self.init(bytes, orThrow: .tooShort(message, bytes: bytes.count))
  }
}
