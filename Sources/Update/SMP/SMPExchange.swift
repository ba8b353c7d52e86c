import OtaflashWire

/// Which requests wait for an answer, by their sequence numbers. Pure.
///
/// A server works off requests in their order, so an answer tells that those before it will get
/// none.
struct SMPExchange: Sendable {
  /// Requests that may wait at once; a fraction of the 256 numbers, so that one comes again only
  /// long after its late answers have died out.
  static let outstandingMaximum = 32

  /// Messages that answered nothing, by what they were.
  struct Ignored: Equatable, Sendable {
    /// Answers after their time, or a second time.
    var late = 0
    /// Requests, and answers to what was never asked.
    var alien = 0
    /// What could not be put together or read.
    var malformed = 0
  }

  private var next: UInt8
  private var outstanding: [(sequence: UInt8, command: SMPCommand)] = []
  private(set) var ignored = Ignored()

  init(firstSequence: UInt8) { next = firstSequence }

  /// A number for a new request. More than `outstandingMaximum` at once is the caller's bug.
  mutating func begin(_ command: SMPCommand) -> UInt8 {
    precondition(outstanding.count < Self.outstandingMaximum, "too many requests at once")
    defer { next &+= 1 }
    outstanding.append((next, command))
    return next
  }

  /// Whether a message with this header answers a request; it is then outstanding no longer.
  mutating func received(_ header: SMPHeader) -> Bool {
    guard let index = outstanding.firstIndex(where: { $0.sequence == header.sequence }) else {
      if header.operation.response == nil { ignored.late += 1 } else { ignored.alien += 1 }
      return false
    }
    let command = outstanding[index].command
    guard header.operation == command.operation.response, header.group == command.group,
      header.command == command.number
    else {
      ignored.alien += 1
      return false
    }
    outstanding.removeFirst(index + 1)
    return true
  }

  mutating func receivedMalformed() { ignored.malformed += 1 }

  /// No answer is expected any more; one that still comes is late.
  mutating func forget(_ sequence: UInt8) { outstanding.removeAll { $0.sequence == sequence } }

  mutating func forgetAll() { outstanding = [] }
}
