/// The reason why bytes are not exactly one CBOR item, and the position.
package struct CBORFault: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Cause: Equatable, Sendable {
    case endsEarly
    /// Additional information 28…30, or 31 where an indefinite length is not permitted (RFC 8949,
    /// 3).
    case reservedLength(UInt8)
    case unexpectedBreak
    /// A chunk of an indefinite string that is not a definite string of its kind (3.2.3).
    case wrongChunk
    /// A simple value below 32 in two bytes (3.3).
    case reservedSimple(UInt8)
    case notUTF8
    case duplicateKey
    case tooDeep(limit: Int)
    case tooManyItems(limit: Int)
    case trailingBytes(Int)
  }

  package let cause: Cause
  /// The offset from the start of the input, in bytes.
  package let position: Int

  package init(_ cause: Cause, at position: Int) {
    self.cause = cause
    self.position = position
  }

  package var description: String { "\(cause.words) at byte \(position) of the CBOR data" }
}

extension CBORFault.Cause {
  fileprivate var words: String {
    switch self {
    case .endsEarly: "the data ends early"
    case .reservedLength(let information): "the reserved length \(information) is used"
    case .unexpectedBreak: "unexpected break code where an item is expected"
    case .wrongChunk: "a string has a chunk of another kind"
    case .reservedSimple(let value): "the simple value \(value) is encoded in two bytes"
    case .notUTF8: "a text is not UTF-8"
    case .duplicateKey: "a map has a key twice"
    case .tooDeep(let limit): "items are nested deeper than \(limit) levels"
    case .tooManyItems(let limit): "there are more than \(limit) items"
    case .trailingBytes(let count): "\(count) bytes follow the item"
    }
  }
}
