import OtaflashWire

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

/// Octets behind the last known field are left alone: later versions append fields.
typealias OTAReader = OctetReader<OTADecodeFault>

extension OTAReader {
  init(_ octets: [UInt8], of message: String) {
    self.init(octets, orThrow: .tooShort(message, octets: octets.count))
  }
}
