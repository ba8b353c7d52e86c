import OtaflashWire

/// A request to the file transfer service. Each request is one write, and has one answer.
package enum FileTransferRequest: Equatable, Sendable {
  /// Reads `count` bytes of a file from `offset` on.
  case read(path: String, offset: Int, count: Int)
  /// Opens a file for writing, and creates it if it does not exist. An existing file is not
  /// truncated.
  ///
  /// - Parameter size: the complete size that the file will have, in bytes.
  case write(path: String, offset: Int, size: Int)
  /// Writes bytes to the file of the last `write`.
  case data(offset: Int, bytes: ArraySlice<UInt8>)
  /// Deletes a file or an empty directory.
  case delete(path: String)
  case makeDirectory(path: String)
  /// Moves a file, and replaces an existing file.
  case move(from: String, to: String)

  /// The sizes in bytes of the requests without their paths and data.
  package static let writeHeaderSize = 20
  package static let dataHeaderSize = 12
  /// The size of an answer to `read` in bytes, without its content.
  package static let contentHeaderSize = 16

  package var encoded: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .read(let path, let offset, let count):
      writer.path(path, after: 0x10)
      writer.uint32(UInt32(offset))
      writer.uint32(UInt32(count))
      writer.bytes(path.utf8)
    case .write(let path, let offset, let size):
      writer.path(path, after: 0x20)
      writer.uint32(UInt32(offset))
      // The time of the modification, which is not stored.
      writer.uint32(0)
      writer.uint32(0)
      writer.uint32(UInt32(size))
      writer.bytes(path.utf8)
    case .data(let offset, let bytes):
      writer.uint8(0x22)
      writer.uint8(UInt8(bitPattern: FileTransferStatus.success.rawValue))
      writer.uint16(0)
      writer.uint32(UInt32(offset))
      writer.uint32(UInt32(bytes.count))
      writer.bytes(bytes)
    case .delete(let path):
      writer.path(path, after: 0x30)
      writer.bytes(path.utf8)
    case .makeDirectory(let path):
      writer.path(path, after: 0x40)
      writer.uint32(0)
      writer.uint32(0)
      writer.uint32(0)
      writer.bytes(path.utf8)
    case .move(let path, let target):
      writer.path(path, after: 0x60)
      writer.uint16(UInt16(target.utf8.count))
      writer.bytes(path.utf8)
      // The device overwrites this byte to terminate the first path.
      writer.uint8(0)
      writer.bytes(target.utf8)
    }
    return writer.bytes
  }

  /// Whether an answer belongs to this request. An answer to an earlier request, which was repeated
  /// because its answer was late, has another kind or another offset.
  func isAnswered(by answer: FileTransferAnswer) -> Bool {
    switch (self, answer) {
    case (.read(_, let offset, _), .content(_, let answered, _, _)): offset == answered
    case (.write(_, let offset, _), .pacing(_, let answered, _)): offset == answered
    case (.data(let offset, _), .pacing(_, let answered, _)): offset == answered
    case (.delete, .deleted), (.makeDirectory, .directoryMade), (.move, .moved): true
    default: false
    }
  }
}

extension ByteWriter {
  /// Writes the opcode, a byte of padding, and the length of a path.
  fileprivate mutating func path(_ path: String, after opcode: UInt8) {
    uint8(opcode)
    uint8(0)
    uint16(UInt16(path.utf8.count))
  }
}
