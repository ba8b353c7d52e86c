/// One line of an Intel HEX file: `:LLOOOOTT…CC` (Intel, Hexadecimal Object File Format
/// Specification, Revision A, 1988, section 2).
package enum IntelHexRecord: Equatable, Sendable {
  /// Type 00: 0…255 bytes at an offset from the current base address.
  case data(loadOffset: UInt16, [UInt8])
  /// Type 01: the last record of the file.
  case endOfFile
  /// Type 02: the following offsets count from `base` * 16 and wrap at 64 KiB.
  case extendedSegmentAddress(base: UInt16)
  /// Type 03: the start address of an 8086.
  case startSegmentAddress(cs: UInt16, ip: UInt16)
  /// Type 04: the following offsets count from `upper` * 65536.
  case extendedLinearAddress(upper: UInt16)
  /// Type 05: the start address of a 32-bit processor.
  case startLinearAddress(UInt32)

  /// Decodes one line without its line end; digits may be upper or lower case. The load offset of
  /// records other than data is ignored, because the specification does not use it.
  /// - Throws: the error in the line.
  package init(decoding line: some Collection<UInt8>) throws(IntelHexFault) {
    let (type, loadOffset, payload) = try Self.checked(line)
    try self.init(type: type, loadOffset: loadOffset, payload: payload)
  }

  /// Decodes the fields of a line of any type, and checks its length and its checksum.
  static func checked(
    _ line: some Collection<UInt8>
  ) throws(IntelHexFault) -> (type: UInt8, loadOffset: UInt16, payload: [UInt8]) {
    let fields = try Self.bytes(of: line)
    guard fields.count >= Self.overhead else { throw .tooShort(bytes: fields.count) }
    let payload = Array(fields[4..<(fields.count - 1)])
    guard payload.count == Int(fields[0]) else {
      throw .wrongLength(stated: Int(fields[0]), found: payload.count)
    }
    let computed = Self.checksum(fields.dropLast())
    guard computed == fields[fields.count - 1] else {
      throw .wrongChecksum(stated: fields[fields.count - 1], computed: computed)
    }
    return (fields[3], UInt16(fields[1]) << 8 | UInt16(fields[2]), payload)
  }

  /// The line with upper-case digits, without a line end. Requires at most 255 bytes of data.
  package var encoded: String {
    let (type, loadOffset, payload) = fields
    precondition(payload.count <= 255, "a record has at most 255 bytes")
    var bytes = [UInt8(payload.count)] + Self.bigEndian(loadOffset) + [type] + payload
    bytes.append(Self.checksum(bytes))
    return ":" + bytes.map { $0.hexadecimal }.joined()
  }

  /// The number of bytes that a record has in addition to its data: length, offset, type, checksum.
  private static let overhead = 5

  private init(type: UInt8, loadOffset: UInt16, payload: [UInt8]) throws(IntelHexFault) {
    func require(_ count: Int) throws(IntelHexFault) {
      guard payload.count == count else {
        throw .wrongLengthForType(type, expected: count, found: payload.count)
      }
    }
    func word(_ at: Int) -> UInt16 { UInt16(payload[at]) << 8 | UInt16(payload[at + 1]) }
    switch type {
    case 0:
      self = .data(loadOffset: loadOffset, payload)
    case 1:
      try require(0)
      self = .endOfFile
    case 2:
      try require(2)
      self = .extendedSegmentAddress(base: word(0))
    case 3:
      try require(4)
      self = .startSegmentAddress(cs: word(0), ip: word(2))
    case 4:
      try require(2)
      self = .extendedLinearAddress(upper: word(0))
    case 5:
      try require(4)
      self = .startLinearAddress(UInt32(word(0)) << 16 | UInt32(word(2)))
    default:
      // Types of the micro:bit Universal Hex format, version 1.
      throw (0x0A...0x0E).contains(type) ? .universalHex(type: type) : .unknownType(type)
    }
  }

  private var fields: (type: UInt8, loadOffset: UInt16, payload: [UInt8]) {
    switch self {
    case .data(let loadOffset, let bytes): (0, loadOffset, bytes)
    case .endOfFile: (1, 0, [])
    case .extendedSegmentAddress(let base): (2, 0, Self.bigEndian(base))
    case .startSegmentAddress(let cs, let ip): (3, 0, Self.bigEndian(cs) + Self.bigEndian(ip))
    case .extendedLinearAddress(let upper): (4, 0, Self.bigEndian(upper))
    case .startLinearAddress(let address):
      (5, 0, Self.bigEndian(UInt16(address >> 16)) + Self.bigEndian(UInt16(address & 0xFFFF)))
    }
  }

  private static func bigEndian(_ value: UInt16) -> [UInt8] {
    [UInt8(value >> 8), UInt8(value & 0xFF)]
  }

  /// Returns the two's complement of the sum, with which all bytes of a record add up to 0 modulo
  /// 256.
  private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 {
    0 &- bytes.reduce(0, &+)
  }

  private static func bytes(of line: some Collection<UInt8>) throws(IntelHexFault) -> [UInt8] {
    guard let mark = line.first, mark == UInt8(ascii: ":") else {
      throw .noRecordMark(found: line.first)
    }
    do throws(HexadecimalFault) {
      return try HexadecimalText.bytes(of: line.dropFirst(), fromColumn: 2)
    } catch {
      switch error {
      case .notHexadecimal(let character, let column):
        throw .notHexadecimal(character, column: column)
      case .halfByte(let digits): throw .halfByte(digits: digits)
      }
    }
  }
}
