/// One line of a Motorola S-record file: `S` and a type, followed in hexadecimal by the number of
/// remaining bytes, an address, data, and a checksum (Motorola M68000 Family Programmer's Reference
/// Manual, appendix C).
package enum SRecord: Equatable, Sendable {
  /// S0: a comment of the tool that wrote the file.
  case header([UInt8])
  /// S1, S2, S3: bytes at an address of 16, 24 or 32 bits; the last byte must also have an address
  /// of this size.
  case data(address: UInt32, [UInt8])
  /// S5, S6: the number of data records before this record.
  case count(UInt32)
  /// S7, S8, S9: the last record, with the start address. Tools write 0 if there is no start
  /// address.
  case end(start: UInt32)

  /// The size of the checksum in bytes; the count field includes it.
  private static let checksumSize = 1

  /// The length of the shortest line, `S9030000FC`.
  private static let charactersMinimum = 10

  /// Returns whether a file whose first line is `line` consists of S-records.
  static func begins(_ line: ArraySlice<UInt8>) -> Bool {
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    return line.count >= charactersMinimum && line.first == UInt8(ascii: "S")
      && digits.contains(line[line.startIndex + 1])
  }

  /// Decodes one line without its line end; digits may be upper or lower case.
  /// - Throws: the error in the line.
  package init(decoding line: some Collection<UInt8>) throws(SRecordFault) {
    guard let mark = line.first, mark == UInt8(ascii: "S") else {
      throw .noRecordMark(found: line.first)
    }
    guard let character = line.dropFirst().first else { throw .tooShort(bytes: 0, least: 1) }
    guard let type = RecordType(character) else { throw .unknownType(character) }
    let bytes = try Self.bytes(of: line.dropFirst(2))
    let least = 1 + type.addressSize + Self.checksumSize
    guard bytes.count >= least else { throw .tooShort(bytes: bytes.count, least: least) }
    guard bytes.count - 1 == Int(bytes[0]) else {
      throw .wrongLength(stated: Int(bytes[0]), found: bytes.count - 1)
    }
    let computed = Self.checksum(bytes.dropLast())
    guard computed == bytes[bytes.count - 1] else {
      throw .wrongChecksum(stated: bytes[bytes.count - 1], computed: computed)
    }
    let address = bytes[1...type.addressSize].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    try self.init(type, address, Array(bytes[(1 + type.addressSize)..<(bytes.count - 1)]))
  }

  private init(
    _ type: RecordType, _ address: UInt32, _ data: [UInt8]
  ) throws(SRecordFault) {
    switch type {
    case .header: self = .header(data)
    case .data16, .data24, .data32:
      guard Int(address) + data.count <= 1 << (8 * type.addressSize) else {
        throw .beyondAddresses(address: address, bytes: data.count, bits: 8 * type.addressSize)
      }
      self = .data(address: address, data)
    case .count16, .count24, .end32, .end24, .end16:
      guard data.isEmpty else { throw .unexpectedData(bytes: data.count) }
      self = type.isEnd ? .end(start: address) : .count(address)
    }
  }

  /// Returns the ones' complement of the sum's low byte, with which all bytes including the
  /// checksum add up to 0xFF.
  static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 { ~bytes.reduce(0, &+) }

  private static func bytes(
    of digits: some Collection<UInt8>
  ) throws(SRecordFault) -> [UInt8] {
    do throws(HexadecimalFault) {
      return try HexadecimalText.bytes(of: digits, fromColumn: 3)
    } catch {
      switch error {
      case .notHexadecimal(let character, let column):
        throw .notHexadecimal(character, column: column)
      case .halfByte(let digits): throw .halfByte(digits: digits)
      }
    }
  }
}

/// The digit after the `S`. S4 is reserved.
private enum RecordType: UInt8 {
  case header = 0
  case data16 = 1
  case data24 = 2
  case data32 = 3
  case count16 = 5
  case count24 = 6
  case end32 = 7
  case end24 = 8
  case end16 = 9

  init?(_ character: UInt8) {
    guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return nil }
    self.init(rawValue: character - UInt8(ascii: "0"))
  }

  /// The size of the address in bytes.
  var addressSize: Int {
    switch self {
    case .header, .data16, .count16, .end16: 2
    case .data24, .count24, .end24: 3
    case .data32, .end32: 4
    }
  }

  var isEnd: Bool {
    switch self {
    case .end32, .end24, .end16: true
    case .header, .data16, .data24, .data32, .count16, .count24: false
    }
  }
}
