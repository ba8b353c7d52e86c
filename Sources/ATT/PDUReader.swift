/// Reads the fields of one ATT PDU in order. Only this type and `BluetoothUUID.init(littleEndian:)`
/// index received bytes. `ByteReader` of OtaflashWire is not used, for three reasons: this target
/// depends on no other target, a fault contains the opcode, and a PDU with bytes after its last
/// field is malformed.
struct PDUReader {
  let opcode: UInt8
  private let bytes: [UInt8]
  private var position: Int

  /// Creates a reader that starts after the opcode.
  init(_ bytes: [UInt8]) throws(DecodeFault) {
    guard let first = bytes.first else { throw DecodeFault(opcode: nil, reason: .empty) }
    self.bytes = bytes
    opcode = first
    position = 1
  }

  /// The number of bytes that are not yet read.
  var remaining: Int { bytes.count - position }

  func fault(_ reason: DecodeFault.Reason) -> DecodeFault {
    DecodeFault(opcode: opcode, reason: reason)
  }

  mutating func byte() throws(DecodeFault) -> UInt8 {
    try require(1)
    defer { position += 1 }
    return bytes[position]
  }

  mutating func integer() throws(DecodeFault) -> UInt16 {
    try require(2)
    defer { position += 2 }
    return UInt16(bytes[position]) | UInt16(bytes[position + 1]) << 8
  }

  mutating func handle() throws(DecodeFault) -> AttributeHandle {
    AttributeHandle(try integer())
  }

  mutating func handleRange() throws(DecodeFault) -> HandleRange {
    HandleRange(try handle(), try handle())
  }

  mutating func take(_ count: Int) throws(DecodeFault) -> [UInt8] {
    try require(count)
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  /// Reads a UUID of `count` bytes.
  mutating func uuid(bytes count: Int) throws(DecodeFault) -> BluetoothUUID {
    guard let uuid = BluetoothUUID(littleEndian: try take(count)) else {
      throw fault(.uuidLength(count))
    }
    return uuid
  }

  /// Reads the remaining bytes.
  mutating func rest() -> [UInt8] {
    defer { position = bytes.count }
    return Array(bytes[position...])
  }

  /// Reads entries of `size` bytes up to the end. Throws if the list has fewer than `minimum`
  /// entries, or ends within an entry.
  mutating func list<Entry>(
    of size: Int, atLeast minimum: Int = 1,
    _ entry: (inout PDUReader) throws(DecodeFault) -> Entry
  ) throws(DecodeFault) -> [Entry] {
    guard remaining % size == 0, remaining >= minimum * size else {
      throw fault(.partialList(bytes: bytes.count))
    }
    var entries: [Entry] = []
    entries.reserveCapacity(remaining / size)
    while remaining > 0 { entries.append(try entry(&self)) }
    return entries
  }

  /// Throws if bytes remain.
  func end() throws(DecodeFault) {
    guard remaining == 0 else { throw fault(.tooLong(bytes: bytes.count)) }
  }

  private func require(_ count: Int) throws(DecodeFault) {
    guard remaining >= count else { throw fault(.tooShort(bytes: bytes.count)) }
  }
}
