import OtaflashWire

/// The one place in which a server gathers the fragments of a message, and the buffers that
/// requests and responses share. A fragment that finds no buffer is lost without a word.
struct SMPReassembly: Sendable {
  static let headerBytes = 8

  private let buffers: SMPServerSettings.NetBuffers
  private let reassembles: Bool
  private(set) var buffersInUse = 0
  /// The message that is being gathered; it holds a buffer.
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
    precondition(buffersInUse >= count, "a buffer came back that nobody took")
    buffersInUse -= count
  }

  /// Bytes of the message that begins so; `nil` before its header has come.
  static func size(of bytes: [UInt8]) -> Int? {
    guard bytes.count >= headerBytes else { return nil }
    return headerBytes + (Int(bytes[2]) << 8 | Int(bytes[3]))
  }

  /// Takes a write. Returns a whole message, which keeps its buffer.
  mutating func received(_ fragment: [UInt8]) -> [UInt8]? {
    guard gathered != nil || takeBuffer() else { return nil }
    let bytes = (gathered ?? []) + fragment
    gathered = nil
    guard bytes.count <= buffers.size else { return drop() }
    guard reassembles else { return bytes }
    guard let size = Self.size(of: bytes) else { return keep(bytes) }
    // What is longer than its header says, or will be longer than the buffer, cannot be kept.
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

  /// The link is over: what was gathered of a message is dropped.
  mutating func disconnected() {
    guard gathered != nil else { return }
    gathered = nil
    releaseBuffers(1)
  }
}
