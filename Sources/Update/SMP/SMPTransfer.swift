/// The arithmetic of one upload: which bytes may go out next, and what an answer means. Pure; the
/// session does the sending and the waiting.
///
/// A server works off its requests in their order. Each answer tells the offset that it wants next:
/// when that is the end of what was sent, the part has arrived, and all before it; when it is less,
/// something was lost on the way, and the server threw away what came behind. Then nothing more is
/// sent until the requests that are under way were answered too, and sending goes on from there. An
/// answer within the only request is no loss: the server took as much as it could write.
struct SMPTransfer {
  /// What the session does about an answer.
  enum Reaction: Equatable {
    case proceed
    /// Sending goes on at an earlier offset.
    case rewound(to: Int, because: RewindReason)
  }

  /// Times that sending goes back without the furthest byte advancing.
  static let repeatMaximum = 5
  /// Times that a server may lose bytes that it has acknowledged (it restarted, or somebody else
  /// uploads too).
  static let setbackMaximum = 5
  /// After each loss twice as many answers must come well before the window grows again; at most
  /// this many windows full.
  private static let patienceMaximum = 64

  private struct Request {
    let sequence: UInt8
    let range: Range<Int>
  }

  let total: Int
  /// Requests that may be under way at once, for which the server is known to have buffers.
  private let widthLimit: Int
  /// Requests that are tried at once, until the first loss among as many: neither what waits for
  /// the air nor an answer that is on its way takes a buffer of the server's.
  private var reach: Int
  private(set) var width = 1
  /// Requests end where the server's units do, but for the last. Until they are known, one goes
  /// alone.
  private(set) var unit: SMPWriteUnit
  /// The next byte to send.
  private(set) var next: Int
  /// The server has everything before this.
  private(set) var acknowledged: Int
  /// In the order of sending.
  private var underWay: [Request] = []
  /// The end of what was ever sent.
  private var sentEnd: Int
  /// After a loss: where sending goes on when nothing is under way any more.
  private var wanted: Int?
  private var furthest: Int
  private var repeats = 0
  private var setbacks = 0
  /// Consecutive times that nothing was heard.
  private(set) var silences = 0
  private var streak = 0
  private var patience = 1

  /// - Parameters:
  ///   - offset: where the server said it stands.
  ///   - unit: what its first answer told of its flash.
  ///   - widthLimit: requests that the server has buffers for, 1 or more.
  ///   - reach: requests that are tried at once, as many or more.
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

  /// A request with offset 0 is under way: the server may erase a slot before it answers.
  var awaitsFirst: Bool { underWay.first?.range.lowerBound == 0 }

  /// The bytes that may go out now, or `nil` when the window is used up or all is sent. The first
  /// goes alone: its answer may be that the server has more already. The last finds a buffer for
  /// certain: no later one would tell that it was lost.
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

  /// The server wants `offset` next, as its answer to the request with this number.
  mutating func answered(
    _ sequence: UInt8, wants offset: Int
  ) throws(UpdateFault) -> Reaction {
    guard let range = take(sequence) else { return .proceed }
    // To offset 0 it may say that it has more of this very image already.
    guard offset <= (range.lowerBound == 0 ? total : sentEnd) else {
      throw .protocolViolation(.upload, "it wants byte \(offset); \(sentEnd) were sent")
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

  /// The last bytes of an image are taken whole by every server.
  private mutating func learn(_ range: Range<Int>, taken offset: Int) {
    guard range.upperBound < total, offset > range.lowerBound,
      let learned = SMPWriteUnit(sent: range.count, taken: offset - range.lowerBound)
    else { return }
    if case (.known(let old), .known(let new)) = (unit, learned), new < old { return }
    unit = learned
  }

  /// The server had no room for this request, or was busy: its bytes are to be sent again.
  mutating func refused(_ sequence: UInt8, isBusy: Bool) throws(UpdateFault) -> Reaction {
    guard let range = take(sequence) else { return .proceed }
    wanted = min(wanted ?? range.lowerBound, range.lowerBound)
    return try resumeIfDrained(because: .overrun, counting: !isBusy)
  }

  /// No answer has come in time: everything under way counts as lost, and one request alone goes
  /// out next.
  ///
  /// - Parameters:
  ///   - waited: the time since the server last got further.
  ///   - requestSize: the length of the requests in bytes, where they can be shorter.
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

  /// Takes a request off the list, and those before it: their answers, or they, were lost.
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

  /// Something was lost: where more was tried than the server has buffers for, so many are not
  /// tried again; else half as many go out.
  private mutating func narrow() {
    if width > widthLimit {
      reach = width - 1
      width = widthLimit
    } else {
      width = max(1, width / 2)
      patience = min(patience * 2, Self.patienceMaximum)
    }
  }

  /// The server has lost what it had; what was reached counts no more.
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
