/// The defect of an SMP message.
package enum SMPDecodeFault: Error, Equatable, Sendable, CustomStringConvertible {
  case headerEndsEarly(bytes: Int)
  case unknownVersion(UInt8)
  case unknownOperation(UInt8)
  /// The body is longer or shorter than the length in its header.
  case wrongLength(said: Int, found: Int)
  case body(CBORFault)
  case bodyIsNoMap
  case missing(String)
  case wrongKind(String, expected: String)
  /// A request that no supported group defines.
  case unknownCommand(SMPCommand)
  /// A response where a request was expected, or the response to another request.
  case answersAnother(SMPCommand)

  package var description: String {
    switch self {
    case .headerEndsEarly(let bytes): "an SMP header ends after \(bytes) bytes"
    case .unknownVersion(let bits): "an SMP header has the undefined version \(bits)"
    case .unknownOperation(let bits): "an SMP header has the undefined operation \(bits)"
    case .wrongLength(let said, let found):
      "an SMP body has \(found) bytes; its header states \(said)"
    case .body(let fault): fault.description
    case .bodyIsNoMap: "an SMP body is not a CBOR map"
    case .missing(let field): "the field \(field) is missing"
    case .wrongKind(let field, let expected): "the field \(field) is not \(expected)"
    case .unknownCommand(let command): "\(command) is not known"
    case .answersAnother(let command): "the response to \(command) belongs to another request"
    }
  }
}
