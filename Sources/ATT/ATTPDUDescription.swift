extension ATTPDU: CustomStringConvertible {
  /// A readable line with the PDU's name, its attributes, and the size of its value, such as
  /// `WriteRequest 0x0010 495 bytes`.
  package var description: String {
    switch self {
    case .request(let request): request.description
    case .response(let response): response.description
    case .writeCommand(let handle, let value):
      ATTOpcode.writeCommand.name + " \(handle) \(bytes(value))"
    case .signedWriteCommand(let handle, let value, _):
      ATTOpcode.signedWriteCommand.name + " \(handle) \(bytes(value))"
    case .notification(let handle, let value):
      ATTOpcode.handleValueNotification.name + " \(handle) \(bytes(value))"
    case .multipleNotification(let entries):
      ATTOpcode.multipleHandleValueNotification.name + " \(handles(entries.map(\.handle)))"
    case .indication(let handle, let value):
      ATTOpcode.handleValueIndication.name + " \(handle) \(bytes(value))"
    case .confirmation: ATTOpcode.handleValueConfirmation.name
    case .unknown(let opcode): "unknown opcode \(hexadecimal(opcode))"
    }
  }
}

extension ATTRequest: CustomStringConvertible {
  package var description: String { opcode.name + " " + details }

  private var details: String {
    switch self {
    case .exchangeMTU(let mtu): "\(mtu)"
    case .findInformation(let range): "\(range)"
    case .findByTypeValue(let range, let type, let value):
      "\(range) \(BluetoothUUID(type)) \(bytes(value))"
    case .readByType(let range, let type), .readByGroupType(let range, let type):
      "\(range) \(type)"
    case .read(let handle): "\(handle)"
    case .readBlob(let handle, let offset): "\(handle) from \(offset)"
    case .readMultiple(let set), .readMultipleVariable(let set): handles(set)
    case .write(let handle, let value): "\(handle) \(bytes(value))"
    case .prepareWrite(let handle, let offset, let part): "\(handle) from \(offset) \(bytes(part))"
    case .executeWrite(let flags): "\(flags)"
    }
  }
}

extension ATTResponse: CustomStringConvertible {
  package var description: String { details.isEmpty ? opcode.name : opcode.name + " " + details }

  private var details: String {
    switch self {
    case .error(let error):
      "\(error.handle) error \(hexadecimal(error.code.rawValue)) to "
        + (ATTOpcode(rawValue: error.requestOpcode)?.name ?? hexadecimal(error.requestOpcode))
    case .exchangeMTU(let mtu): "\(mtu)"
    case .findInformation(let found): handles(found.map(\.handle))
    case .findByTypeValue(let ranges): ranges.map(\.description).joined(separator: " ")
    case .readByType(let found): handles(found.map(\.handle))
    case .read(let value), .readBlob(let value), .readMultiple(let value): bytes(value)
    case .readMultipleVariable(let values): "\(values.count) values"
    case .readByGroupType(let groups):
      groups.map(\.handles.description).joined(separator: " ")
    case .write, .executeWrite: ""
    case .prepareWrite(let handle, let offset, let part):
      "\(handle) from \(offset) \(bytes(part))"
    }
  }
}

extension ATTOpcode {
  /// The PDU's name in the specification, without spaces, such as `WriteRequest`.
  package var name: String {
    let text = "\(self)"
    return text.prefix(1).uppercased() + text.dropFirst()
  }
}

extension HandleRange: CustomStringConvertible {
  public var description: String { "\(first)-\(last)" }
}

private func bytes(_ bytes: [UInt8]) -> String {
  bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes"
}

private func handles(_ handles: [AttributeHandle]) -> String {
  handles.map(\.description).joined(separator: " ")
}

private func hexadecimal(_ byte: UInt8) -> String {
  "0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
}
