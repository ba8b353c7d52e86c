import OtaflashWire

/// An answer of the file transfer service, in one notification.
package enum FileTransferAnswer: Equatable, Sendable {
  /// The answer to `read`: the size of the complete file, and the bytes from `offset` on.
  case content(FileTransferStatus, offset: Int, total: Int, bytes: [UInt8])
  /// The answer to `write` and `data`.
  ///
  /// - Parameter free: the number of bytes that the device can still store, but no more than the
  ///   rest of the file from `offset` on.
  case pacing(FileTransferStatus, offset: Int, free: Int)
  case deleted(FileTransferStatus)
  case directoryMade(FileTransferStatus)
  case moved(FileTransferStatus)

  package init(decoding bytes: [UInt8]) throws(FileTransferDecodeFault) {
    var reader = ByteReader(bytes, orThrow: FileTransferDecodeFault.truncated(bytes.count))
    let opcode = try reader.uint8()
    let status = FileTransferStatus(rawValue: Int8(bitPattern: try reader.uint8()))
    switch opcode {
    case 0x11:
      _ = try reader.uint16()
      let offset = Int(try reader.uint32())
      let total = Int(try reader.uint32())
      let count = Int(try reader.uint32())
      // A notification that exceeds the ATT_MTU is truncated, and a failed read has a wrong count.
      self = .content(status, offset: offset, total: total, bytes: Array(reader.rest.prefix(count)))
    case 0x21:
      _ = try reader.uint16()
      let offset = Int(try reader.uint32())
      _ = try reader.bytes(8)
      self = .pacing(status, offset: offset, free: Int(try reader.uint32()))
    case 0x31: self = .deleted(status)
    case 0x41: self = .directoryMade(status)
    case 0x61: self = .moved(status)
    default: throw .unknownOpcode(opcode)
    }
  }

  /// The status of the answer.
  var status: FileTransferStatus {
    switch self {
    case .content(let status, _, _, _), .pacing(let status, _, _), .deleted(let status),
      .directoryMade(let status), .moved(let status):
      status
    }
  }
}

/// An error in an answer; the description is a clause.
package enum FileTransferDecodeFault: Error, Equatable, Sendable, CustomStringConvertible {
  case truncated(Int)
  case unknownOpcode(UInt8)

  package var description: String {
    switch self {
    case .truncated(let bytes): "an answer has \(bytes) bytes, which are too few"
    case .unknownOpcode(let opcode):
      "an answer has the opcode \(opcode), which the service does not define"
    }
  }
}
