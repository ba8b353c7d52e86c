/// The pure logic of one transfer: which write follows, and whether it is acknowledged.
///
/// The first and the last write are acknowledged separately. The responses are the only
/// acknowledgements: a response shows that the device has received all earlier writes.
package struct SilabsTransfer: Sendable {
  package enum Step: Equatable, Sendable {
    /// Send these bytes in a Write Command.
    case command(Range<Int>)
    /// Send these bytes in a Write Request.
    case request(Range<Int>)
    /// Wait for the response to the open request.
    case wait
    /// The device has acknowledged the complete file.
    case complete
  }

  /// The number of writes by which each response enlarges the window.
  private static let growth = 4

  let total: Int
  private let chunk: Int
  private let pace: SilabsPace
  package private(set) var acknowledged = 0
  private(set) var next = 0
  private var window: Int
  /// The number of commands since the last request.
  private var commands = 0
  /// The number of writes without an acknowledgement.
  private var inFlight = 0
  /// The end of the open request, and the number of writes that its response acknowledges.
  private var open: (end: Int, writes: Int)?

  package init(total: Int, chunk: Int, pace: SilabsPace) {
    precondition(total > 0 && chunk > 0)
    (self.total, self.chunk, self.pace) = (total, chunk, pace)
    window = pace.start
  }

  package var step: Step {
    guard next < total else { return open == nil ? .complete : .wait }
    let range = next..<min(next + chunk, total)
    let isLast = range.upperBound == total
    if open == nil, next == 0 || isLast || commands + 1 >= pace.interval {
      return .request(range)
    }
    // Nothing follows the first write before its response, and the last write is a request.
    let isHeld = isLast || open != nil && acknowledged == 0
    guard !isHeld, commands + 1 < pace.spacing, inFlight < window else { return .wait }
    return .command(range)
  }

  /// Records that the write of a step was sent.
  package mutating func sent(_ range: Range<Int>, isRequest: Bool) {
    precondition(range.lowerBound == next)
    next = range.upperBound
    inFlight += 1
    if isRequest {
      open = (next, inFlight)
      commands = 0
    } else {
      commands += 1
    }
  }

  /// Records the response to the open request.
  package mutating func answered() {
    guard let (end, writes) = open else { preconditionFailure("a response without a request") }
    open = nil
    acknowledged = end
    inFlight -= writes
    window = min(window + Self.growth, pace.window)
  }
}
