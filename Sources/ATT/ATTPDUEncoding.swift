/// The Format field of Find Information Response (Core 5.4, Vol 3, Part F, 3.4.3.2).
enum InformationFormat: UInt8 {
  case handlesAndShortUUIDs = 0x01
  case handlesAndLongUUIDs = 0x02

  var uuidSize: Int {
    switch self {
    case .handlesAndShortUUIDs: 2
    case .handlesAndLongUUIDs: 16
    }
  }
}

extension ATTPDU {
  /// The bytes of this PDU. Traps on a programming error: an empty or uneven list, a part that is
  /// too long for its length field, or a signature that does not have 12 bytes.
  package var encoded: [UInt8] {
    switch self {
    case .request(let request): return request.encoded
    case .response(let response): return response.encoded
    case .writeCommand(let handle, let value):
      return .pdu(.writeCommand, handle, value)
    case .signedWriteCommand(let handle, let value, let signature):
      precondition(signature.count == Self.signatureSize, "a signature has 12 bytes")
      return .pdu(.signedWriteCommand, handle, value) + signature
    case .notification(let handle, let value):
      return .pdu(.handleValueNotification, handle, value)
    case .multipleNotification(let entries):
      precondition(entries.count >= 2, "a multiple notification has two entries or more")
      var bytes: [UInt8] = [ATTOpcode.multipleHandleValueNotification.rawValue]
      for entry in entries {
        bytes.append(entry.handle)
        bytes.append(UInt16(entry.value.count))
        bytes += entry.value
      }
      return bytes
    case .indication(let handle, let value):
      return .pdu(.handleValueIndication, handle, value)
    case .confirmation:
      return [ATTOpcode.handleValueConfirmation.rawValue]
    case .unknown(let opcode):
      return [opcode]
    }
  }
}

extension ATTRequest {
  /// The bytes of this request. Traps if a Read Multiple has fewer than two handles.
  package var encoded: [UInt8] {
    var bytes: [UInt8] = [opcode.rawValue]
    switch self {
    case .exchangeMTU(let clientReceiveMTU):
      bytes.append(clientReceiveMTU)
    case .findInformation(let range):
      bytes.append(range)
    case .findByTypeValue(let range, let type, let value):
      bytes.append(range)
      bytes.append(type)
      bytes += value
    case .readByType(let range, let type), .readByGroupType(let range, let type):
      bytes.append(range)
      bytes += type.littleEndian
    case .read(let handle):
      bytes.append(handle)
    case .readBlob(let handle, let offset):
      bytes.append(handle)
      bytes.append(offset)
    case .readMultiple(let handles), .readMultipleVariable(let handles):
      precondition(handles.count >= 2, "Read Multiple needs two handles or more")
      for handle in handles { bytes.append(handle) }
    case .write(let handle, let value):
      return .pdu(opcode, handle, value)
    case .prepareWrite(let handle, let offset, let part):
      bytes.append(handle)
      bytes.append(offset)
      bytes += part
    case .executeWrite(let flags):
      bytes.append(flags.rawValue)
    }
    return bytes
  }
}

extension ATTResponse {
  /// The bytes of this response. Traps on an empty or uneven list.
  package var encoded: [UInt8] {
    var bytes: [UInt8] = [opcode.rawValue]
    switch self {
    case .error(let error):
      bytes.append(error.requestOpcode)
      bytes.append(error.handle)
      bytes.append(error.code.rawValue)
    case .exchangeMTU(let serverReceiveMTU):
      bytes.append(serverReceiveMTU)
    case .findInformation(let entries):
      bytes.append(entries)
    case .findByTypeValue(let ranges):
      precondition(!ranges.isEmpty, "an empty list needs an Error Response")
      for range in ranges { bytes.append(range) }
    case .readByType(let entries):
      bytes.append(entryLength: entries.map { 2 + $0.value.count })
      for entry in entries {
        bytes.append(entry.handle)
        bytes += entry.value
      }
    case .read(let value), .readBlob(let value), .readMultiple(let value):
      bytes += value
    case .readMultipleVariable(let values):
      bytes.append(values)
    case .readByGroupType(let entries):
      bytes.append(entryLength: entries.map { 4 + $0.value.count })
      for entry in entries {
        bytes.append(entry.handles)
        bytes += entry.value
      }
    case .write, .executeWrite:
      break
    case .prepareWrite(let handle, let offset, let part):
      bytes.append(handle)
      bytes.append(offset)
      bytes += part
    }
    return bytes
  }
}

extension [UInt8] {
  /// Encodes opcode, handle and value in one allocation.
  fileprivate static func pdu(
    _ opcode: ATTOpcode, _ handle: AttributeHandle, _ value: [UInt8]
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(3 + value.count)
    bytes.append(opcode.rawValue)
    bytes.append(handle)
    bytes += value
    return bytes
  }

  fileprivate mutating func append(_ integer: UInt16) {
    append(UInt8(truncatingIfNeeded: integer))
    append(UInt8(integer >> 8))
  }

  fileprivate mutating func append(_ handle: AttributeHandle) { append(handle.rawValue) }

  fileprivate mutating func append(_ range: HandleRange) {
    append(range.first)
    append(range.last)
  }

  fileprivate mutating func append(entryLength lengths: [Int]) {
    guard let length = lengths.first, let byte = UInt8(exactly: length),
      lengths.allSatisfy({ $0 == length })
    else { preconditionFailure("entries must have one length, 255 bytes at most") }
    append(byte)
  }

  fileprivate mutating func append(_ entries: [AttributeInformation]) {
    let uuids = entries.map(\.type.littleEndian)
    guard let size = uuids.first?.count, uuids.allSatisfy({ $0.count == size }) else {
      preconditionFailure("one or more entries must have UUIDs of one length")
    }
    let format: InformationFormat = size == 2 ? .handlesAndShortUUIDs : .handlesAndLongUUIDs
    append(format.rawValue)
    for (entry, uuid) in zip(entries, uuids) {
      append(entry.handle)
      self += uuid
    }
  }

  /// Appends values with their length fields. Only the last value may be shorter than its length
  /// field states.
  fileprivate mutating func append(_ values: [LengthValue]) {
    precondition(!values.isEmpty, "an empty list needs an Error Response")
    for (index, entry) in values.enumerated() {
      let whole = entry.value.count == Int(entry.length)
      let cut = entry.value.count < Int(entry.length) && index == values.count - 1
      precondition(whole || cut, "only the last value may be truncated")
      append(entry.length)
      self += entry.value
    }
  }
}
