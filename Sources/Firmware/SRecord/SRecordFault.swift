/// An error in a line of a Motorola S-record file, or in the position of the line.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum SRecordFault: Error, Equatable, Sendable {
  /// The line does not start with `S`; `nil` if it is empty.
  case noRecordMark(found: UInt8?)
  /// The character after the `S` is not one of the types 0 to 3 and 5 to 9.
  case unknownType(UInt8)
  /// A character that is not a hexadecimal digit; columns count from 1.
  case notHexadecimal(UInt8, column: Int)
  /// An odd number of digits.
  case halfByte(digits: Int)
  /// The line has fewer bytes than the count, the address and the checksum of this type need.
  case tooShort(bytes: Int, least: Int)
  /// The record's count field differs from the number of bytes in the line.
  case wrongLength(stated: Int, found: Int)
  /// The bytes of a record and its checksum do not add up to 0xFF (modulo 256).
  case wrongChecksum(stated: UInt8, computed: UInt8)
  /// Data in a record of a type that has no data.
  case unexpectedData(bytes: Int)
  /// Data at an address that exceeds the range of this type of record.
  case beyondAddresses(address: UInt32, bytes: Int, bits: Int)
  /// A count record that does not match the number of data records before it.
  case wrongCount(stated: UInt32, found: Int)
  /// A record after the last record on line `end`.
  case recordAfterEnd(end: Int)
  /// The file ends without a record of type 7, 8 or 9, and its last data record is not followed by
  /// a count of the data records (type 5 or 6). The file was therefore truncated.
  case endMissing
  /// A last record that no data precedes.
  case noData
  /// A byte for an address that line `other` has already set.
  case overlap(address: UInt32, other: Int)
}

extension SRecordFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noRecordMark(let found?): "starts with \(found.shownCharacter); a record starts with 'S'"
    case .noRecordMark(nil): "is empty"
    case .unknownType(let character):
      "is of type \(character.shownCharacter); the known types are S0 to S3 and S5 to S9"
    case .notHexadecimal(let character, let column):
      "has \(character.shownCharacter) in column \(column) instead of a hexadecimal digit"
    case .halfByte(let digits):
      "has an odd number of digits (\(digits)); the line is truncated or damaged"
    case .tooShort(let bytes, let least):
      "has \(bytes) bytes; a record of its type has at least \(least)"
    case .wrongLength(let stated, let found):
      "states that \(stated) bytes follow, but there are \(found)"
    case .wrongChecksum(let stated, let computed):
      "ends with checksum \(stated.hexadecimal), but its bytes yield \(computed.hexadecimal)"
    case .unexpectedData(let bytes): "has \(bytes) bytes of data; its type permits no data"
    case .beyondAddresses(let address, let bytes, let bits):
      "has \(bytes) bytes at 0x\(address.hexadecimal), outside of \(bits)-bit addresses"
    case .wrongCount(let stated, let found):
      "counts \(stated) data records, but there are \(found) before it"
    case .recordAfterEnd(let end): "follows the last record, on line \(end)"
    case .endMissing:
      "is the last line, but not an end record (S7, S8, S9 or a count of all records); "
        + "the file is truncated"
    case .noData: "ends the file before any data"
    case .overlap(let address, let other):
      "contains address 0x\(address.hexadecimal) again, after line \(other)"
    }
  }
}
