extension ATTPDU {
  /// The size of an authentication signature in bytes: a 4-byte counter and an 8-byte code (Core
  /// 5.4, Vol 3, Part F, 3.4.5.4).
  static let signatureSize = 12

  /// Decodes one complete PDU from the transport (3.4). An unknown opcode is not a fault: it
  /// decodes as `.unknown`.
  ///
  /// - Throws: `DecodeFault` if the PDU violates the layout of its opcode. Values are not checked:
  ///   handle 0x0000, a reversed range and an MTU below 23 all decode.
  package init(decoding bytes: [UInt8]) throws(DecodeFault) {
    var reader = try PDUReader(bytes)
    guard let opcode = ATTOpcode(rawValue: reader.opcode) else {
      self = .unknown(opcode: reader.opcode)
      return
    }
    self = try Self.decode(opcode, &reader)
    try reader.end()
  }

  private static func decode(
    _ opcode: ATTOpcode, _ reader: inout PDUReader
  ) throws(DecodeFault) -> ATTPDU {
    switch opcode {
    case .exchangeMTURequest, .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest,
      .readRequest, .readBlobRequest, .readMultipleRequest, .readMultipleVariableRequest,
      .readByGroupTypeRequest, .writeRequest, .prepareWriteRequest, .executeWriteRequest:
      return .request(try ATTRequest(opcode, &reader))
    case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse,
      .readByTypeResponse, .readResponse, .readBlobResponse, .readMultipleResponse,
      .readMultipleVariableResponse, .readByGroupTypeResponse, .writeResponse,
      .prepareWriteResponse, .executeWriteResponse:
      return .response(try ATTResponse(opcode, &reader))
    case .writeCommand:
      return .writeCommand(try reader.handle(), value: reader.rest())
    case .signedWriteCommand:
      return try signedWriteCommand(&reader)
    case .handleValueNotification:
      return .notification(try reader.handle(), value: reader.rest())
    case .multipleHandleValueNotification:
      return .multipleNotification(try multipleNotification(&reader))
    case .handleValueIndication:
      return .indication(try reader.handle(), value: reader.rest())
    case .handleValueConfirmation:
      return .confirmation
    }
  }

  private static func signedWriteCommand(
    _ reader: inout PDUReader
  ) throws(DecodeFault) -> ATTPDU {
    let handle = try reader.handle()
    let valueSize = reader.remaining - signatureSize
    guard valueSize >= 0 else {
      throw reader.fault(.tooShort(bytes: reader.remaining + 3))
    }
    let value = try reader.take(valueSize)
    return .signedWriteCommand(handle, value: value, signature: reader.rest())
  }

  /// Reads two or more complete entries (3.4.7.4).
  private static func multipleNotification(
    _ reader: inout PDUReader
  ) throws(DecodeFault) -> [HandleLengthValue] {
    var entries: [HandleLengthValue] = []
    while reader.remaining > 0 || entries.count < 2 {
      let handle = try reader.handle()
      let length = try reader.integer()
      entries.append(HandleLengthValue(handle: handle, value: try reader.take(Int(length))))
    }
    return entries
  }
}

extension ATTRequest {
  /// Reads the fields after `opcode`, which must be the opcode of a request.
  init(_ opcode: ATTOpcode, _ reader: inout PDUReader) throws(DecodeFault) {
    switch opcode {
    case .exchangeMTURequest:
      self = .exchangeMTU(clientReceiveMTU: try reader.integer())
    case .findInformationRequest:
      self = .findInformation(try reader.handleRange())
    case .findByTypeValueRequest:
      self = .findByTypeValue(
        try reader.handleRange(), type: try reader.integer(), value: reader.rest())
    case .readByTypeRequest:
      self = .readByType(
        try reader.handleRange(), type: try reader.uuid(bytes: reader.remaining))
    case .readRequest:
      self = .read(try reader.handle())
    case .readBlobRequest:
      self = .readBlob(try reader.handle(), offset: try reader.integer())
    case .readMultipleRequest:
      self = .readMultiple(try reader.handleSet())
    case .readMultipleVariableRequest:
      self = .readMultipleVariable(try reader.handleSet())
    case .readByGroupTypeRequest:
      self = .readByGroupType(
        try reader.handleRange(), groupType: try reader.uuid(bytes: reader.remaining))
    case .writeRequest:
      self = .write(try reader.handle(), value: reader.rest())
    case .prepareWriteRequest:
      self = .prepareWrite(
        try reader.handle(), offset: try reader.integer(), part: reader.rest())
    case .executeWriteRequest:
      let byte = try reader.byte()
      guard let flags = ExecuteWriteFlags(rawValue: byte) else {
        throw reader.fault(.unknownFlags(byte))
      }
      self = .executeWrite(flags)
    default:
      preconditionFailure("\(opcode) is not a request")
    }
  }
}

extension PDUReader {
  /// Reads two or more handles (3.4.4.7, 3.4.4.11).
  fileprivate mutating func handleSet() throws(DecodeFault) -> [AttributeHandle] {
    try list(of: 2, atLeast: 2) { (reader: inout PDUReader) throws(DecodeFault) in
      try reader.handle()
    }
  }
}
