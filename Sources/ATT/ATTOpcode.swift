/// The opcodes of the Attribute Protocol (Core 5.4, Vol 3, Part F, 3.4.8). Bit 6 marks a command,
/// bit 7 an authentication signature; bits 0…5 are the method (3.3.1).
package enum ATTOpcode: UInt8, CaseIterable, Hashable, Sendable {
  case errorResponse = 0x01
  case exchangeMTURequest = 0x02
  case exchangeMTUResponse = 0x03
  case findInformationRequest = 0x04
  case findInformationResponse = 0x05
  case findByTypeValueRequest = 0x06
  case findByTypeValueResponse = 0x07
  case readByTypeRequest = 0x08
  case readByTypeResponse = 0x09
  case readRequest = 0x0A
  case readResponse = 0x0B
  case readBlobRequest = 0x0C
  case readBlobResponse = 0x0D
  case readMultipleRequest = 0x0E
  case readMultipleResponse = 0x0F
  case readByGroupTypeRequest = 0x10
  case readByGroupTypeResponse = 0x11
  case writeRequest = 0x12
  case writeResponse = 0x13
  case prepareWriteRequest = 0x16
  case prepareWriteResponse = 0x17
  case executeWriteRequest = 0x18
  case executeWriteResponse = 0x19
  case handleValueNotification = 0x1B
  case handleValueIndication = 0x1D
  case handleValueConfirmation = 0x1E
  case readMultipleVariableRequest = 0x20
  case readMultipleVariableResponse = 0x21
  case multipleHandleValueNotification = 0x23
  case writeCommand = 0x52
  case signedWriteCommand = 0xD2

  /// Whether an opcode has the command bit, even if the opcode is unknown. A server ignores an
  /// unknown command, and answers any other unknown PDU with Error Response 0x06 (3.3).
  package static func isCommand(_ opcode: UInt8) -> Bool { opcode & 0x40 != 0 }
}

extension ATTRequest {
  /// The opcode that this request starts with.
  package var opcode: ATTOpcode {
    switch self {
    case .exchangeMTU: .exchangeMTURequest
    case .findInformation: .findInformationRequest
    case .findByTypeValue: .findByTypeValueRequest
    case .readByType: .readByTypeRequest
    case .read: .readRequest
    case .readBlob: .readBlobRequest
    case .readMultiple: .readMultipleRequest
    case .readMultipleVariable: .readMultipleVariableRequest
    case .readByGroupType: .readByGroupTypeRequest
    case .write: .writeRequest
    case .prepareWrite: .prepareWriteRequest
    case .executeWrite: .executeWriteRequest
    }
  }
}

extension ATTResponse {
  /// The opcode that this response starts with.
  package var opcode: ATTOpcode {
    switch self {
    case .error: .errorResponse
    case .exchangeMTU: .exchangeMTUResponse
    case .findInformation: .findInformationResponse
    case .findByTypeValue: .findByTypeValueResponse
    case .readByType: .readByTypeResponse
    case .read: .readResponse
    case .readBlob: .readBlobResponse
    case .readMultiple: .readMultipleResponse
    case .readMultipleVariable: .readMultipleVariableResponse
    case .readByGroupType: .readByGroupTypeResponse
    case .write: .writeResponse
    case .prepareWrite: .prepareWriteResponse
    case .executeWrite: .executeWriteResponse
    }
  }

  /// Whether this response may end the request `request`: it must be a response of the same method,
  /// or an Error Response with the opcode of the request (3.4.1.1).
  package func answers(_ request: ATTOpcode) -> Bool {
    if case .error(let error) = self { return error.requestOpcode == request.rawValue }
    // In the table of opcodes, each response follows its request (3.4.8).
    return opcode.rawValue == request.rawValue + 1
  }
}
