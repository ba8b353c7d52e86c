/// The arithmetic of one upload: the bytes to send next, and the meaning of a response. Pure; the
/// session sends and waits.
///
/// A server processes its requests in their order. Each response contains the offset that the
/// server requests next. If this is the end of the sent bytes, the request and all before it have
/// arrived. If it is less, a request was lost, and the server discarded the following ones. Then
/// nothing more is sent until the requests in flight are answered, and sending resumes at that
/// offset. An offset inside the only request is not a loss: the server accepted as much as it could
/// write.
struct SMPTransfer {
  /// The reaction of the session to a response.
  enum Reaction: Equatable {
    case proceed
    /// Sending resumes at an earlier offset.
    case rewound(to: Int, because: RewindReason)
  }

  /// How often sending goes back without a new maximum offset.
  static let repeatMaximum = 5
  /// How often a server may lose acknowledged bytes (it restarted, or another host uploads too).
  static let setbackMaximum = 5
  /// After each loss, twice as many responses must succeed before the window grows again; at most
  /// this many windows.
  private static let patienceMaximum = 64

  private struct Request {
    let sequence: UInt8
    let range: Range<Int>
  }

  let total: Int
  /// The maximum number of requests in flight for which the server is known to have buffers.
  private let widthLimit: Int
  /// The number of requests that are tried in flight, until the first loss at this number: neither
  /// a request in the transport nor a response in flight occupies a buffer of the server.
  private var reach: Int
  private(set) var width = 1
  /// Requests end at the boundaries of the server's units, except the last. Until the unit is
  /// known, one request is in flight.
  private(set) var unit: SMPWriteUnit
  /// The next byte to send.
  private(set) var next: Int
  /// The server has all bytes before this offset.
  private(set) var acknowledged: Int
  /// In the order of sending.
  private var underWay: [Request] = []
  /// The end of all bytes sent so far.
  private var sentEnd: Int
  /// After a loss: the offset at which sending resumes when no request is in flight.
  private var wanted: Int?
  private var furthest: Int
  private var repeats = 0
  private var setbacks = 0
  /// Consecutive time limits without a response.
  private(set) var silences = 0
  private var streak = 0
  private var patience = 1

  /// - Parameters:
  ///   - offset: the offset that the server reported.
  ///   - unit: the write unit from its first response.
  ///   - widthLimit: requests that the server has buffers for, 1 or more.
  ///   - reach: requests that are tried in flight, at least `widthLimit`.
  init(
    total: Int, startingAt offset: Int, unit: SMPWriteUnit = .unknown, widthLimit: Int, reach: Int
  ) {
    precondition(widthLimit >= 1 && reach >= widthLimit && 0...total ~= offset)
    self.total = total
    self.unit = unit
    self.widthLimit = widthLimit
    self.reach = reach
    next = offset
    acknowledged = offset
    sentEnd = offset
    furthest = offset
  }

  var isComplete: Bool { acknowledged == total }

  var isWaiting: Bool { !underWay.isEmpty }

  /// A request with offset 0 is in flight: the server may erase a slot before it responds.
  var awaitsFirst: Bool { underWay.first?.range.lowerBound == 0 }

  /// The bytes to send now, or `nil` if the window is full or all bytes are sent. The first request
  /// is sent alone: the server may report that it already has more. The last request must find a
  /// free buffer: no later response would show its loss.
  func sendable(_ size: SMPPacketSize) -> Range<Int>? {
    guard wanted == nil, next < total, !awaitsFirst else { return nil }
    let end = next + size.data(at: next, of: total, to: unit)
    let most = unit == .unknown ? 1 : end == total ? min(width, widthLimit) : width
    guard underWay.count < most else { return nil }
    return next..<end
  }

  mutating func sent(_ range: Range<Int>, as sequence: UInt8) {
    precondition(range.lowerBound == next && !range.isEmpty && wanted == nil)
    underWay.append(Request(sequence: sequence, range: range))
    next = range.upperBound
    sentEnd = max(sentEnd, next)
  }

  /// The server requests `offset` next, in its response to the request with this number.
  mutating func answered(
    _ sequence: UInt8, requesting offset: Int
  ) throws(UpdateFault) -> Reaction {
    guard let range = take(sequence) else { return .proceed }
    // At offset 0, it may report that it already has more of this image.
    guard offset <= (range.lowerBound == 0 ? total : sentEnd) else {
      throw .protocolViolation(.upload, "it requests byte \(offset); \(sentEnd) were sent")
    }
    sentEnd = max(sentEnd, offset)
    if offset <= range.upperBound { learn(range, taken: offset) }
    let isPart = underWay.isEmpty && offset > range.lowerBound
    guard wanted == nil, isPart || offset >= range.upperBound else {
      wanted = offset
      return try resumeIfDrained(because: .gap)
    }
    acknowledged = offset
    next = isPart ? offset : max(next, offset)
    noteProgress()
    grow()
    return .proceed
  }

  /// Every server accepts the last bytes of an image completely.
  private mutating func learn(_ range: Range<Int>, taken offset: Int) {
    guard range.upperBound < total, offset > range.lowerBound,
      let learned = SMPWriteUnit(sent: range.count, taken: offset - range.lowerBound)
    else { return }
    if case (.known(let old), .known(let new)) = (unit, learned), new < old { return }
    unit = learned
  }

  /// The server had no buffer for this request, or was busy: its bytes must be sent again.
  mutating func refused(_ sequence: UInt8, isBusy: Bool) throws(UpdateFault) -> Reaction {
    guard let range = take(sequence) else { return .proceed }
    wanted = min(wanted ?? range.lowerBound, range.lowerBound)
    return try resumeIfDrained(because: .overrun, counting: !isBusy)
  }

  /// No response arrived in time: all requests in flight count as lost, and a single request is
  /// sent next.
  ///
  /// - Parameters:
  ///   - waited: the time since the last progress of the server.
  ///   - requestSize: the length of the requests in bytes, if they can be shorter.
  mutating func timedOut(
    after waited: Duration, requestSize: Int? = nil
  ) throws(UpdateFault) -> Reaction {
    underWay = []
    silences += 1
    let offset = wanted ?? acknowledged
    defer { width = 1 }
    do throws(UpdateFault) {
      return try resume(at: offset, because: .silence)
    } catch {
      throw .stalled(atOffset: acknowledged, waited: waited, requestSize: requestSize)
    }
  }

  /// Removes a request from the list, and those before it: they or their responses were lost.
  private mutating func take(_ sequence: UInt8) -> Range<Int>? {
    guard let index = underWay.firstIndex(where: { $0.sequence == sequence }) else { return nil }
    silences = 0
    defer { underWay.removeFirst(index + 1) }
    return underWay[index].range
  }

  private mutating func resumeIfDrained(
    because reason: RewindReason, counting: Bool = true
  ) throws(UpdateFault) -> Reaction {
    guard underWay.isEmpty, let offset = wanted else { return .proceed }
    return try resume(at: offset, because: reason, counting: counting)
  }

  private mutating func resume(
    at offset: Int, because reason: RewindReason, counting: Bool = true
  ) throws(UpdateFault) -> Reaction {
    wanted = nil
    next = offset
    if offset < acknowledged { try fellBack(to: offset) }
    acknowledged = offset
    noteProgress()
    if counting {
      repeats += 1
      guard repeats <= Self.repeatMaximum else {
        throw .noProgress(atOffset: offset, repeats: Self.repeatMaximum)
      }
      narrow()
    }
    streak = 0
    return .rewound(to: offset, because: reason)
  }

  /// After a loss: if more requests than known buffers were tried, this number is not tried again;
  /// otherwise the number is halved.
  private mutating func narrow() {
    if width > widthLimit {
      reach = width - 1
      width = widthLimit
    } else {
      width = max(1, width / 2)
      patience = min(patience * 2, Self.patienceMaximum)
    }
  }

  /// The server lost the bytes that it had; the maximum starts over.
  private mutating func fellBack(to offset: Int) throws(UpdateFault) {
    setbacks += 1
    guard setbacks <= Self.setbackMaximum else {
      throw .noProgress(atOffset: offset, repeats: Self.setbackMaximum)
    }
    furthest = offset
    repeats = 0
  }

  private mutating func noteProgress() {
    guard acknowledged > furthest else { return }
    furthest = acknowledged
    repeats = 0
  }

  private mutating func grow() {
    streak += 1
    guard width < reach, streak >= width * patience else { return }
    width += 1
    streak = 0
  }
}
