extension ATTResponse {
  /// Reads the fields after `opcode`, which must be the opcode of a response.
  init(_ opcode: ATTOpcode, _ reader: inout PDUReader) throws(DecodeFault) {
    switch opcode {
    case .errorResponse:
      self = .error(try reader.errorResponse())
    case .exchangeMTUResponse:
      self = .exchangeMTU(serverReceiveMTU: try reader.integer())
    case .findInformationResponse:
      self = .findInformation(try reader.attributeInformation())
    case .findByTypeValueResponse:
      self = .findByTypeValue(try reader.handleRanges())
    case .readByTypeResponse:
      self = .readByType(try reader.attributeData())
    case .readResponse:
      self = .read(value: reader.rest())
    case .readBlobResponse:
      self = .readBlob(part: reader.rest())
    case .readMultipleResponse:
      self = .readMultiple(values: reader.rest())
    case .readMultipleVariableResponse:
      self = .readMultipleVariable(try reader.lengthValues())
    case .readByGroupTypeResponse:
      self = .readByGroupType(try reader.attributeGroupData())
    case .writeResponse:
      self = .write
    case .prepareWriteResponse:
      self = .prepareWrite(
        try reader.handle(), offset: try reader.integer(), part: reader.rest())
    case .executeWriteResponse:
      self = .executeWrite
    default:
      preconditionFailure("\(opcode) is not a response")
    }
  }
}

extension PDUReader {
  fileprivate mutating func errorResponse() throws(DecodeFault) -> ErrorResponse {
    ErrorResponse(
      requestOpcode: try byte(), handle: try handle(), code: ATTErrorCode(try byte()))
  }

  fileprivate mutating func attributeInformation() throws(DecodeFault) -> [AttributeInformation] {
    let format = try byte()
    guard let uuidSize = InformationFormat(rawValue: format)?.uuidSize else {
      throw fault(.unknownFormat(format))
    }
    return try list(of: 2 + uuidSize) { (reader: inout PDUReader) throws(DecodeFault) in
      AttributeInformation(handle: try reader.handle(), type: try reader.uuid(bytes: uuidSize))
    }
  }

  fileprivate mutating func handleRanges() throws(DecodeFault) -> [HandleRange] {
    try list(of: 4) { (reader: inout PDUReader) throws(DecodeFault) in try reader.handleRange() }
  }

  fileprivate mutating func attributeData() throws(DecodeFault) -> [AttributeData] {
    let length = try entryLength(atLeast: 2)
    return try list(of: length) { (reader: inout PDUReader) throws(DecodeFault) in
      AttributeData(handle: try reader.handle(), value: try reader.take(length - 2))
    }
  }

  fileprivate mutating func attributeGroupData() throws(DecodeFault) -> [AttributeGroupData] {
    let length = try entryLength(atLeast: 4)
    return try list(of: length) { (reader: inout PDUReader) throws(DecodeFault) in
      AttributeGroupData(
        handles: try reader.handleRange(), value: try reader.take(length - 4))
    }
  }

  private mutating func entryLength(atLeast minimum: UInt8) throws(DecodeFault) -> Int {
    let length = try byte()
    guard length >= minimum else { throw fault(.entryLength(length)) }
    return Int(length)
  }

  /// Reads values with their length fields. The MTU may truncate the last value, and even its
  /// length field: a single byte at the end has no meaning and is skipped (3.4.4.12).
  fileprivate mutating func lengthValues() throws(DecodeFault) -> [LengthValue] {
    var values: [LengthValue] = []
    repeat {
      let length = try integer()
      values.append(
        LengthValue(length: length, value: try take(min(Int(length), remaining))))
    } while remaining > 1
    _ = rest()
    return values
  }
}
