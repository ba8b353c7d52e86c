import OtaflashWire

/// The outstanding requests, by their sequence numbers. Pure.
///
/// A server processes requests in their order, so a response means that earlier requests get none.
struct SMPExchange: Sendable {
  /// The maximum number of outstanding requests; a fraction of the 256 numbers, so that a number is
  /// reused long after its late responses.
  static let outstandingMaximum = 32

  /// Messages that answered no request, by kind.
  struct Ignored: Equatable, Sendable {
    /// Late or repeated responses.
    var late = 0
    /// Requests, and responses to unknown requests.
    var alien = 0
    /// Messages that could not be reassembled or decoded.
    var malformed = 0
  }

  private var next: UInt8
  private var outstanding: [(sequence: UInt8, command: SMPCommand)] = []
  private(set) var ignored = Ignored()

  init(firstSequence: UInt8) { next = firstSequence }

  /// A number for a new request. More than `outstandingMaximum` requests are a bug of the caller.
  mutating func begin(_ command: SMPCommand) -> UInt8 {
    precondition(outstanding.count < Self.outstandingMaximum, "too many requests at once")
    defer { next &+= 1 }
    outstanding.append((next, command))
    return next
  }

  /// Whether a message with this header answers a request, which is then no longer outstanding.
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

  /// No response is expected any more; one that still arrives is late.
  mutating func forget(_ sequence: UInt8) { outstanding.removeAll { $0.sequence == sequence } }

  mutating func forgetAll() { outstanding = [] }
}
