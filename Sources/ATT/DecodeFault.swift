/// The defect of a PDU that cannot be decoded. A server answers a malformed request with Error
/// Response 0x04, Invalid PDU, which contains `opcode` (Core 5.4, Vol 3, Part F, 3.3); other
/// recipients drop the PDU or the bearer.
///
/// A handle range with `first > last` or handle 0x0000 is well-formed: the specification requires
/// Error Response 0x01 for such a range, so decoding accepts the range, and the server checks it
/// (3.4.3.1).
package struct DecodeFault: Error, Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    /// The PDU has no bytes.
    case empty
    /// The PDU ends before the end of its fields.
    case tooShort(bytes: Int)
    /// Bytes remain after the last field.
    case tooLong(bytes: Int)
    /// A list of fixed-size entries ends within an entry, or has too few entries.
    case partialList(bytes: Int)
    /// The Length field of a list is too small for the handles in each entry.
    case entryLength(UInt8)
    /// A UUID that is neither 2 nor 16 bytes long.
    case uuidLength(Int)
    /// A Format field that is neither 0x01 nor 0x02 (3.4.3.2).
    case unknownFormat(UInt8)
    /// Execute Write flags that are neither 0x00 nor 0x01 (3.4.6.3).
    case unknownFlags(UInt8)
  }

  /// The first byte of the PDU; `nil` if the PDU is empty.
  package let opcode: UInt8?
  package let reason: Reason

  package init(opcode: UInt8?, reason: Reason) {
    self.opcode = opcode
    self.reason = reason
  }
}

extension DecodeFault: CustomStringConvertible {
  package var description: String {
    guard let opcode else { return "empty PDU" }
    let digits = String(opcode, radix: 16, uppercase: true)
    return "PDU 0x\(opcode < 0x10 ? "0" : "")\(digits): \(cause)"
  }

  private var cause: String {
    switch reason {
    case .empty: "no bytes"
    case .tooShort(let bytes): "too short (\(bytes) bytes)"
    case .tooLong(let bytes): "too long (\(bytes) bytes)"
    case .partialList(let bytes): "a list that ends with an incomplete entry (\(bytes) bytes)"
    case .entryLength(let length): "impossible entry length \(length)"
    case .uuidLength(let bytes): "a UUID of \(bytes) bytes"
    case .unknownFormat(let format): "unknown format \(format)"
    case .unknownFlags(let flags): "unknown flags \(flags)"
    }
  }
}
