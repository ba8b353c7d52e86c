/// What is wrong with a line of an Intel HEX file, or with its place among the others.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum IntelHexFault: Error, Equatable, Sendable {
  /// The line does not begin with `:`; `nil` when it is empty.
  case noRecordMark(found: UInt8?)
  /// A character that is no hexadecimal digit; columns count from 1.
  case notHexadecimal(UInt8, column: Int)
  /// An odd number of digits.
  case halfByte(digits: Int)
  /// Fewer than the 5 bytes every record has.
  case tooShort(bytes: Int)
  /// The record's length field and the bytes on the line differ.
  case wrongLength(stated: Int, found: Int)
  /// The type fixes the number of bytes, and the line has another.
  case wrongLengthForType(UInt8, expected: Int, found: Int)
  /// The bytes of a record and its checksum do not add up to 0 (modulo 256).
  case wrongChecksum(stated: UInt8, computed: UInt8)
  /// The specification knows the types 00 to 05.
  case unknownType(UInt8)
  /// A record after the end-of-file record of line `end`.
  case recordAfterEnd(end: Int)
  /// The file stops without an end-of-file record: it was cut off.
  case endMissing
  /// An end-of-file record, and no data before it.
  case noData
  /// A byte for an address that line `other` has given already.
  case overlap(address: UInt32, other: Int)
  /// A second start address.
  case secondStartAddress
  /// A type of Universal Hex, which holds the programs of two boards.
  case universalHex(type: UInt8)
}

extension IntelHexFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noRecordMark(let found?): "begins with \(found.shownCharacter), a record begins with ':'"
    case .noRecordMark(nil): "is empty"
    case .notHexadecimal(let character, let column):
      "has \(character.shownCharacter) in column \(column) where a hexadecimal digit belongs"
    case .halfByte(let digits): "has an odd number of digits (\(digits)); it was cut or mangled"
    case .tooShort(let bytes): "has \(bytes) bytes; every record has at least 5"
    case .wrongLength(let stated, let found):
      "says it carries \(stated) bytes of data and carries \(found)"
    case .wrongLengthForType(let type, let expected, let found):
      "is of type \(type.hexadecimal), which carries \(expected) bytes; it carries \(found)"
    case .wrongChecksum(let stated, let computed):
      "ends with checksum \(stated.hexadecimal), its bytes give \(computed.hexadecimal)"
    case .unknownType(let type): "is of type \(type.hexadecimal); known are 00 to 05"
    case .recordAfterEnd(let end): "follows the end-of-file record of line \(end)"
    case .endMissing: "is the last one and no end-of-file record; the file was cut off"
    case .noData: "ends the file before any data"
    case .overlap(let address, let other):
      "gives address 0x\(address.hexadecimal) again, which line \(other) has given"
    case .secondStartAddress: "gives a second start address"
    case .universalHex(let type):
      "is of type \(type.hexadecimal): a Universal Hex, which holds the programs of two boards; "
        + "make a HEX file for one of them"
    }
  }
}
