import OtaflashWire

/// The outstanding requests, identified by their sequence numbers.
///
/// A server processes requests in order: after the response to one request, earlier requests that
/// are still outstanding will not receive a response.
struct SMPExchange: Sendable {
  /// The maximum number of outstanding requests. It is a fraction of the 256 sequence numbers, so
  /// that no number is reused while a late response may still arrive.
  static let outstandingMaximum = 32

  /// The numbers of messages that answered no request, by kind.
  struct Ignored: Equatable, Sendable {
    /// Late or repeated responses.
    var late = 0
    /// Requests, and responses that do not match the outstanding request with the same number.
    var alien = 0
    /// Fragments that do not form a message.
    var malformed = 0
  }

  private var next: UInt8
  private var outstanding: [(sequence: UInt8, command: SMPCommand)] = []
  private(set) var ignored = Ignored()

  init(firstSequence: UInt8) { next = firstSequence }

  /// Returns the sequence number of a new request. The caller must not exceed `outstandingMaximum`
  /// requests.
  mutating func begin(_ command: SMPCommand) -> UInt8 {
    precondition(outstanding.count < Self.outstandingMaximum, "too many outstanding requests")
    defer { next &+= 1 }
    outstanding.append((next, command))
    return next
  }

  /// Returns whether a message with this header answers an outstanding request. If it does, this
  /// request and all earlier requests are no longer outstanding.
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

  /// Stops waiting for a response; a response that still arrives counts as late.
  mutating func forget(_ sequence: UInt8) { outstanding.removeAll { $0.sequence == sequence } }

  mutating func forgetAll() { outstanding = [] }
}
