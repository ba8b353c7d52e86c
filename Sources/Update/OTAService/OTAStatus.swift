import OtaflashWire

/// The Status characteristic's value (docs/ota-service.md, 2): 16 bytes.
package struct OTAStatus: Equatable, Sendable {
  package enum State: UInt8, Sendable {
    case idle = 0
    case receiving, verifying, verified, activating
  }

  /// The error that a Status reports (2.1).
  package enum Note: UInt8, Sendable {
    case none = 0
    case gap, overrun, flashFault, noSession, notAuthorized, patchRefused
  }

  /// The size of the value in bytes.
  static let size = 16

  package var state: State
  package var note: Note
  /// The number of bytes after `nextOffset` that the device accepts now; 0 = the device is busy, or
  /// its state is not `receiving`.
  package var window: Int
  /// The offset of the next byte that the device needs. This and the following offsets refer to the
  /// image or, in a patch session, to the stream.
  package var nextOffset: Int
  /// The CRC32 of the received bytes 0 ..< `nextOffset`.
  package var crc32: UInt32
  /// The number of bytes that survive a reset of the device; for a stream, the bytes before the
  /// current part.
  package var durableOffset: Int

  package init(
    state: State, note: Note, window: Int, nextOffset: Int, crc32: UInt32, durableOffset: Int
  ) {
    self.state = state
    self.note = note
    self.window = window
    self.nextOffset = nextOffset
    self.crc32 = crc32
    self.durableOffset = durableOffset
  }

  /// The end of the bytes that the device accepts, as an offset in the content.
  package var limit: Int { nextOffset + window }

  package init(decoding bytes: [UInt8]) throws(OTADecodeFault) {
    var reader = ByteReader(bytes, of: "Status")
    let state = try reader.uint8()
    let note = try reader.uint8()
    guard let state = State(rawValue: state) else { throw .unknownValue("Status state", state) }
    guard let note = Note(rawValue: note) else { throw .unknownValue("Status error", note) }
    self.state = state
    self.note = note
    window = Int(try reader.uint16())
    nextOffset = Int(try reader.uint32())
    crc32 = try reader.uint32()
    durableOffset = Int(try reader.uint32())
  }

  package var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.uint8(state.rawValue)
    writer.uint8(note.rawValue)
    writer.uint16(UInt16(window))
    writer.uint32(UInt32(nextOffset))
    writer.uint32(crc32)
    writer.uint32(UInt32(durableOffset))
    return writer.bytes
  }
}
