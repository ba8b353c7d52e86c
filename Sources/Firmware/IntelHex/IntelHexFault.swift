/// An error in a line of an Intel HEX file, or in the position of the line.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum IntelHexFault: Error, Equatable, Sendable {
  /// The line does not start with `:`; `nil` if it is empty.
  case noRecordMark(found: UInt8?)
  /// A character that is not a hexadecimal digit; columns count from 1.
  case notHexadecimal(UInt8, column: Int)
  /// An odd number of digits.
  case halfByte(digits: Int)
  /// Fewer than the 5 bytes that every record has.
  case tooShort(bytes: Int)
  /// The record's length field differs from the number of bytes in the line.
  case wrongLength(stated: Int, found: Int)
  /// The number of bytes does not match the type.
  case wrongLengthForType(UInt8, expected: Int, found: Int)
  /// The bytes of a record and its checksum do not add up to 0 (modulo 256).
  case wrongChecksum(stated: UInt8, computed: UInt8)
  /// A type other than 00 to 05, which the specification defines.
  case unknownType(UInt8)
  /// A record after the end-of-file record of line `end`.
  case recordAfterEnd(end: Int)
  /// The file ends without an end-of-file record, so it was truncated.
  case endMissing
  /// An end-of-file record that no data precedes.
  case noData
  /// A byte for an address that line `other` has already set.
  case overlap(address: UInt32, other: Int)
  /// A second start address record.
  case secondStartAddress
  /// A type of Universal Hex, which contains the programs of two boards.
  case universalHex(type: UInt8)
}

extension IntelHexFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noRecordMark(let found?): "starts with \(found.shownCharacter); a record starts with ':'"
    case .noRecordMark(nil): "is empty"
    case .notHexadecimal(let character, let column):
      "has \(character.shownCharacter) in column \(column) instead of a hexadecimal digit"
    case .halfByte(let digits):
      "has an odd number of digits (\(digits)); the line is truncated or damaged"
    case .tooShort(let bytes): "has \(bytes) bytes; every record has at least 5"
    case .wrongLength(let stated, let found):
      "states \(stated) bytes of data but contains \(found)"
    case .wrongLengthForType(let type, let expected, let found):
      "is of type \(type.hexadecimal), which has \(expected) bytes; it has \(found)"
    case .wrongChecksum(let stated, let computed):
      "ends with checksum \(stated.hexadecimal), but its bytes yield \(computed.hexadecimal)"
    case .unknownType(let type): "is of type \(type.hexadecimal); the known types are 00 to 05"
    case .recordAfterEnd(let end): "follows the end-of-file record of line \(end)"
    case .endMissing: "is the last line, but not an end-of-file record; the file is truncated"
    case .noData: "ends the file before any data"
    case .overlap(let address, let other):
      "contains address 0x\(address.hexadecimal) again, after line \(other)"
    case .secondStartAddress: "contains a second start address"
    case .universalHex(let type):
      "is of type \(type.hexadecimal): a Universal Hex, which contains the programs of two boards; "
        + "create a HEX file for one of them"
    }
  }
}
