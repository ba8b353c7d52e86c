/// Assembles messages from the received characteristic values. The header of a message contains its
/// length, and the next message starts in the next value.
package struct SMPReassembly: Sendable {
  package enum Outcome: Equatable, Sendable {
    case incomplete
    case message(SMPHeader, [UInt8])
    /// The bytes are not a message and were dropped; the next value starts a new message.
    case dropped(SMPDecodeFault)
  }

  private var gathered: [UInt8] = []
  /// The header of the current message.
  private var header: SMPHeader?

  package init() {}

  /// Whether a part of a message was received, and the rest is missing.
  package var isInMessage: Bool { header != nil }

  package mutating func received(_ value: [UInt8]) -> Outcome {
    let header: SMPHeader
    do throws(SMPDecodeFault) {
      header = if let known = self.header { known } else { try SMPHeader(decoding: value) }
    } catch {
      return .dropped(error)
    }
    gathered += value
    let found = gathered.count - SMPHeader.size
    if found < header.bodyLength {
      self.header = header
      return .incomplete
    }
    defer { reset() }
    guard found == header.bodyLength else {
      return .dropped(.wrongLength(said: header.bodyLength, found: found))
    }
    return .message(header, gathered)
  }

  /// Drops the received part of a message.
  package mutating func reset() {
    gathered = []
    header = nil
  }
}
