/// What is wrong with a line of a Motorola S-record file, or with its place among the others.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum SRecordFault: Error, Equatable, Sendable {
  /// The line does not begin with `S`; `nil` when it is empty.
  case noRecordMark(found: UInt8?)
  /// What stands behind the `S` is none of the types 0 to 3 and 5 to 9.
  case unknownType(UInt8)
  /// A character that is no hexadecimal digit; columns count from 1.
  case notHexadecimal(UInt8, column: Int)
  /// An odd number of digits.
  case halfByte(digits: Int)
  /// Fewer bytes than count, address and checksum of this type are.
  case tooShort(bytes: Int, least: Int)
  /// The record's count and the bytes on the line differ.
  case wrongLength(stated: Int, found: Int)
  /// The bytes of a record and its checksum do not add up to 0xFF (modulo 256).
  case wrongChecksum(stated: UInt8, computed: UInt8)
  /// Data in a record that has none by its type.
  case unexpectedData(bytes: Int)
  /// Data behind the last address that a record of this type can name.
  case beyondAddresses(address: UInt32, bytes: Int, bits: Int)
  /// A count record that does not count the data records before it.
  case wrongCount(stated: UInt32, found: Int)
  /// A record after the one that ended the file on line `end`.
  case recordAfterEnd(end: Int)
  /// The file stops without a record of type 7, 8 or 9, and without a count of its data records
  /// (type 5 or 6) behind the last of them: it was cut off.
  case endMissing
  /// The last record, and no data before it.
  case noData
  /// A byte for an address that line `other` has given already.
  case overlap(address: UInt32, other: Int)
}

extension SRecordFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noRecordMark(let found?): "begins with \(found.shownCharacter), a record begins with 'S'"
    case .noRecordMark(nil): "is empty"
    case .unknownType(let character):
      "is of type \(character.shownCharacter); known are S0 to S3 and S5 to S9"
    case .notHexadecimal(let character, let column):
      "has \(character.shownCharacter) in column \(column) where a hexadecimal digit belongs"
    case .halfByte(let digits): "has an odd number of digits (\(digits)); it was cut or mangled"
    case .tooShort(let bytes, let least):
      "has \(bytes) bytes; a record of its type has at least \(least)"
    case .wrongLength(let stated, let found):
      "says that \(stated) bytes follow; \(found) do"
    case .wrongChecksum(let stated, let computed):
      "ends with checksum \(stated.hexadecimal), its bytes give \(computed.hexadecimal)"
    case .unexpectedData(let bytes): "carries \(bytes) bytes of data, its type has none"
    case .beyondAddresses(let address, let bytes, let bits):
      "puts \(bytes) bytes at 0x\(address.hexadecimal), beyond what \(bits) bits can address"
    case .wrongCount(let stated, let found):
      "counts \(stated) data records; there are \(found) before it"
    case .recordAfterEnd(let end): "follows the last record, that of line \(end)"
    case .endMissing:
      "is the last one and ends no file (S7, S8, S9 or a count of all records do); it was cut off"
    case .noData: "ends the file before any data"
    case .overlap(let address, let other):
      "gives address 0x\(address.hexadecimal) again, which line \(other) has given"
    }
  }
}
