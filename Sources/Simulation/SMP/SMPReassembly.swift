import OtaflashWire

/// The buffer in which a server reassembles the fragments of a message, and the buffers that
/// requests and responses share. A fragment that finds no free buffer is lost without an error.
struct SMPReassembly: Sendable {
  static let headerBytes = 8

  private let buffers: SMPServerSettings.NetBuffers
  private let reassembles: Bool
  private(set) var buffersInUse = 0
  /// The incomplete message; it occupies a buffer.
  private var gathered: [UInt8]?

  init(_ settings: SMPServerSettings) {
    buffers = settings.netBuffers
    reassembles = settings.reassembles
  }

  mutating func takeBuffer() -> Bool {
    guard buffersInUse < buffers.count else { return false }
    buffersInUse += 1
    return true
  }

  mutating func releaseBuffers(_ count: Int) {
    precondition(buffersInUse >= count, "a buffer was released that was not in use")
    buffersInUse -= count
  }

  /// Returns the size in bytes of the message that starts with these bytes; `nil` before its header
  /// is complete.
  static func size(of bytes: [UInt8]) -> Int? {
    guard bytes.count >= headerBytes else { return nil }
    return headerBytes + (Int(bytes[2]) << 8 | Int(bytes[3]))
  }

  /// Handles a write. Returns a complete message, or `nil` if the message is incomplete or dropped;
  /// a server that does not reassemble returns each write as a message. The caller releases the
  /// buffer of the message (`releaseBuffers`).
  mutating func received(_ fragment: [UInt8]) -> [UInt8]? {
    guard gathered != nil || takeBuffer() else { return nil }
    let bytes = (gathered ?? []) + fragment
    gathered = nil
    guard bytes.count <= buffers.size else { return drop() }
    guard reassembles else { return bytes }
    guard let size = Self.size(of: bytes) else { return keep(bytes) }
    // A message that exceeds the size in its header or the buffer is dropped.
    guard bytes.count <= size, size <= buffers.size else { return drop() }
    return bytes.count == size ? bytes : keep(bytes)
  }

  private mutating func keep(_ bytes: [UInt8]) -> [UInt8]? {
    gathered = bytes
    return nil
  }

  private mutating func drop() -> [UInt8]? {
    releaseBuffers(1)
    return nil
  }

  /// Handles a disconnection: an incomplete message is dropped.
  mutating func disconnected() {
    guard gathered != nil else { return }
    gathered = nil
    releaseBuffers(1)
  }
}
