/// The pure logic of one upload, which determines the bytes to send next, and evaluates responses.
/// The session sends and waits.
///
/// A server processes requests in order. Each response contains the offset that the server requests
/// next. If this offset is the end of the answered request, this request and all earlier requests
/// have arrived. If the offset is lower, a request was lost, and the server discarded the following
/// requests. The host then sends nothing until the requests in flight are answered, and resumes at
/// that offset. An offset inside the only request in flight is not a loss: the server accepted as
/// many bytes as it could write.
struct SMPTransfer {
  /// The reaction of the session to a response.
  enum Reaction: Equatable {
    case proceed
    /// Sending resumes at an earlier offset.
    case rewound(to: Int, because: RewindReason)
  }

  /// The maximum number of times that sending goes back without a new maximum offset.
  static let repeatMaximum = 5
  /// The maximum number of times that a server may lose acknowledged bytes, because it restarted or
  /// another host also uploads.
  static let setbackMaximum = 5
  /// The maximum number of windows without a loss that are required before the window grows again.
  /// The required number starts at 1, and doubles after each loss that halves the window.
  private static let patienceMaximum = 64

  private struct Request {
    let sequence: UInt8
    let range: Range<Int>
  }

  let total: Int
  /// The maximum number of requests in flight for which the server is known to have buffers.
  private let widthLimit: Int
  /// The number of requests in flight to try, until a loss occurs at this number. The value may
  /// exceed the number of buffers, because a request in the transport and a response in flight
  /// occupy no buffer of the server.
  private var reach: Int
  private(set) var width = 1
  /// The write unit of the server. All requests except the last end at a unit boundary. Until the
  /// unit is known, only one request is in flight.
  private(set) var unit: SMPWriteUnit
  /// The next byte to send.
  private(set) var next: Int
  /// The offset up to which the server has all bytes.
  private(set) var acknowledged: Int
  /// The requests in flight, in the order of sending.
  private var underWay: [Request] = []
  /// The offset after the last byte that was sent, or that the server already had.
  private(set) var sentEnd: Int
  /// The offset, after a loss, at which sending resumes when no request is in flight.
  private var wanted: Int?
  private var furthest: Int
  private var repeats = 0
  private var setbacks = 0
  /// The number of consecutive time limits without a response.
  private(set) var silences = 0
  private var streak = 0
  private var patience = 1

  /// Starts a transfer at an offset.
  ///
  /// - Parameters:
  ///   - offset: the offset that the server reported.
  ///   - unit: the write unit from its first response.
  ///   - widthLimit: the number of requests for which the server has buffers, 1 or more.
  ///   - reach: the number of requests in flight to try, at least `widthLimit`.
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

  /// Whether a request with offset 0 is in flight, so that the server may erase a slot before it
  /// responds.
  var awaitsFirst: Bool { underWay.first?.range.lowerBound == 0 }

  /// Returns the range of bytes to send now; `nil` if the window is full, if all bytes are sent, or
  /// if sending waits for requests in flight after a loss. While the first request is in flight, no
  /// other request is sent, because the server may report that it already has more bytes. The last
  /// request is sent only if a buffer is free, because no later response would show its loss.
  func sendable(_ size: some SMPRequestSize) -> Range<Int>? {
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

  /// Processes a response: `offset` is the next offset that the server requests, and `sequence` is
  /// the sequence number of the answered request.
  mutating func answered(
    _ sequence: UInt8, requesting offset: Int
  ) throws(UpdateFault) -> Reaction {
    guard let range = take(sequence) else { return .proceed }
    // In response to a request at offset 0, the server may report that it already has more of this
    // image.
    guard offset <= (range.lowerBound == 0 ? total : sentEnd) else {
      throw .protocolViolation(
        .upload, "it requests byte \(offset), but only \(sentEnd) bytes were sent")
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

  /// Determines the write unit from a response. The last bytes of an image are ignored, because
  /// every server accepts them completely.
  private mutating func learn(_ range: Range<Int>, taken offset: Int) {
    guard range.upperBound < total, offset > range.lowerBound,
      let learned = SMPWriteUnit(sent: range.count, taken: offset - range.lowerBound)
    else { return }
    if case (.known(let old), .known(let new)) = (unit, learned), new < old { return }
    unit = learned
  }

  /// Records that the server had no buffer for this request or was busy, so that its bytes must be
  /// sent again.
  mutating func refused(_ sequence: UInt8, isBusy: Bool) throws(UpdateFault) -> Reaction {
    guard let range = take(sequence) else { return .proceed }
    wanted = min(wanted ?? range.lowerBound, range.lowerBound)
    return try resumeIfDrained(because: .overrun, counting: !isBusy)
  }

  /// Records that no response arrived in time. All requests in flight count as lost, and only one
  /// request is sent next.
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

  /// Returns the byte range of a request; `nil` if the request is not in flight.
  func range(of sequence: UInt8) -> Range<Int>? {
    underWay.first { $0.sequence == sequence }?.range
  }

  // MARK: Servers that report the next offset only when asked

  /// Whether no request is in flight after a loss, so that the server must be asked for the offset
  /// at which sending resumes.
  var needsOffset: Bool { wanted != nil && underWay.isEmpty }

  /// Records that the server discarded this request, because an earlier request was lost.
  mutating func discarded(_ sequence: UInt8) {
    guard let range = take(sequence) else { return }
    wanted = min(wanted ?? range.lowerBound, range.lowerBound)
  }

  /// Records that no response arrived in time. All requests in flight count as lost, and only one
  /// request is sent next.
  mutating func fellSilent() {
    underWay = []
    silences += 1
    wanted = wanted ?? acknowledged
    width = 1
  }

  /// Resumes at the offset that the server reported, which is at most `sentEnd`.
  mutating func resume(at offset: Int) throws(UpdateFault) -> Reaction {
    precondition(needsOffset && 0...sentEnd ~= offset)
    return try resume(at: offset, because: .gap)
  }

  // MARK: Rules

  /// Removes a request and all earlier requests from the list, because the earlier requests or
  /// their responses were lost. Returns the byte range of the request; `nil` if the request is not
  /// in flight.
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

  /// Reduces the number of requests in flight after a loss. If the number exceeded the known
  /// buffers, this number is not tried again; otherwise the number is halved.
  private mutating func narrow() {
    if width > widthLimit {
      reach = width - 1
      width = widthLimit
    } else {
      width = max(1, width / 2)
      patience = min(patience * 2, Self.patienceMaximum)
    }
  }

  /// Records that the server lost acknowledged bytes, and resets the maximum offset.
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
