/// A client's request; the server answers each with one response (Core 5.4, Vol 3, Part F, 3.4).
package enum ATTRequest: Equatable, Sendable {
  case exchangeMTU(clientReceiveMTU: UInt16)
  case findInformation(HandleRange)
  case findByTypeValue(HandleRange, type: UInt16, value: [UInt8])
  case readByType(HandleRange, type: BluetoothUUID)
  case read(AttributeHandle)
  case readBlob(AttributeHandle, offset: UInt16)
  case readMultiple([AttributeHandle])
  case readMultipleVariable([AttributeHandle])
  case readByGroupType(HandleRange, groupType: BluetoothUUID)
  case write(AttributeHandle, value: [UInt8])
  case prepareWrite(AttributeHandle, offset: UInt16, part: [UInt8])
  case executeWrite(ExecuteWriteFlags)
}

/// A server's response to a request.
package enum ATTResponse: Equatable, Sendable {
  case error(ErrorResponse)
  case exchangeMTU(serverReceiveMTU: UInt16)
  case findInformation([AttributeInformation])
  case findByTypeValue([HandleRange])
  case readByType([AttributeData])
  case read(value: [UInt8])
  case readBlob(part: [UInt8])
  /// The concatenated values; only the client knows their lengths.
  case readMultiple(values: [UInt8])
  /// Each value with its length on the server; the last value may be truncated to fit the MTU.
  case readMultipleVariable([LengthValue])
  case readByGroupType([AttributeGroupData])
  case write
  case prepareWrite(AttributeHandle, offset: UInt16, part: [UInt8])
  case executeWrite
}

/// Any PDU of the Attribute Protocol.
package enum ATTPDU: Equatable, Sendable {
  case request(ATTRequest)
  case response(ATTResponse)
  case writeCommand(AttributeHandle, value: [UInt8])
  case signedWriteCommand(AttributeHandle, value: [UInt8], signature: [UInt8])
  case notification(AttributeHandle, value: [UInt8])
  case multipleNotification([HandleLengthValue])
  case indication(AttributeHandle, value: [UInt8])
  case confirmation
  /// An unknown opcode. A server ignores the PDU if it is a command, and otherwise answers with
  /// Error Response 0x06 (3.3).
  case unknown(opcode: UInt8)
}
