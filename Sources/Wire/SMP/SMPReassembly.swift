/// Puts messages together from the values that carry them. There is no framing beside the header:
/// a message begins where the one before has ended, and is as long as its header says.
package struct SMPReassembly: Sendable {
  package enum Outcome: Equatable, Sendable {
    case incomplete
    case message(SMPHeader, [UInt8])
    /// What was gathered is no message; the next value begins anew.
    case dropped(SMPDecodeFault)
  }

  private var gathered: [UInt8] = []
  /// Of the message that is gathered.
  private var header: SMPHeader?

  package init() {}

  /// A part of a message has come, and more is needed.
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

  /// Forgets what has come of a message: its rest is not to be expected any more.
  package mutating func reset() {
    gathered = []
    header = nil
  }
}
