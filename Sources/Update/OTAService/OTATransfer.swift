import OtaflashFirmware

/// The pure logic of one upload, which determines the bytes to send next, and the reaction to a
/// Status. The session sends and waits.
///
/// Offsets refer to the sent content: the image, or a stream that replaces the image.
/// `acknowledged ≤ next ≤ limit` unless the device is busy.
struct OTATransfer {
  /// The reaction of the session to a Status.
  enum Reaction: Equatable {
    case proceed
    /// Sending continues at an earlier offset: the device did not accept the sent bytes.
    case resend(from: Int, because: RewindReason)
    /// The held bytes differ from the content, so the device must discard all bytes from this
    /// offset on.
    case discard(from: Int)
  }

  /// The maximum number of times that bytes are discarded, at any offset, without growth of the
  /// verified part.
  static let blockRepeatsMaximum = 3
  /// The number of rewinds without progress after which shorter writes are tried, and the size of
  /// these writes: first for an ATT_MTU of 247, then of 23. Some stacks announce an MTU that
  /// exceeds their buffers.
  static let chunkLadder = [(rewinds: 4, chunk: 240), (rewinds: 8, chunk: smallestChunk)]
  /// A size that fits an ATT_MTU of 23, which every device supports.
  static let smallestChunk = 16
  /// The maximum number of times that sending goes back to the same or a lower offset without
  /// progress.
  static let rewindsMaximum = 16

  private let prefixes: PrefixChecksums
  /// The maximum number of bytes ahead of `acknowledged`, even if the device permits more.
  private let windowLimit: Int
  let total: Int
  /// The number of content bytes per data write. The number is reduced if the device does not
  /// accept the length that its ATT_MTU permits.
  private(set) var chunk: Int
  /// The maximum size of data writes since the last reduction; `.max` before the first reduction.
  private var ceiling = Int.max
  /// The value of `ceiling`; set after the device accepted writes of this size, but no larger
  /// writes.
  private var verifiedCeiling: Int?
  /// The next byte to send.
  private(set) var next: Int
  /// The offset up to which the device has all bytes.
  private(set) var acknowledged: Int
  /// The offset up to which the device's CRC32 matched.
  private(set) var verified: Int
  private(set) var limit: Int
  private(set) var durable = 0
  /// The offset after the last byte that was sent, or that the device already had.
  private var sentEnd: Int
  /// The highest acknowledged offset so far.
  private var furthest: Int
  private var rewinds = 0
  private var verifiedEnd: Int
  private var discards = 0
  /// The lowest offset to which sending went back since the last check.
  private var setback: Int?
  /// The end of the current window at the time of its first write; `nil` before that.
  private var windowEnd: Int?
  /// The range of the open request, unless sending has gone back to before its end.
  private var checkpoint: Range<Int>?

  /// Starts a transfer at an offset.
  ///
  /// - Parameters:
  ///   - offset: the offset that the device reported, with a matching CRC32.
  ///   - chunk: the number of content bytes per data write, 1 or more.
  ///   - windowLimit: the maximum number of bytes ahead of the last acknowledgement, 1 or more;
  ///     less than a chunk counts as one chunk.
  init(
    prefixes: PrefixChecksums, startingAt offset: Int, chunk: Int, windowLimit: Int? = nil
  ) {
    precondition(chunk > 0 && windowLimit ?? 1 > 0)
    self.prefixes = prefixes
    self.windowLimit = windowLimit ?? .max / 2
    total = prefixes.count
    self.chunk = chunk
    next = offset
    acknowledged = offset
    verified = offset
    limit = offset
    sentEnd = offset
    verifiedEnd = offset
    furthest = offset
  }

  /// Sets the size of data writes, 1 or more; limited to the size that the device accepted.
  mutating func write(inChunksOf bytes: Int) {
    precondition(bytes > 0)
    chunk = min(bytes, ceiling)
  }

  /// Whether the device accepts no bytes at present, according to its last Status.
  var isRefused: Bool { limit <= verified && verified < total }

  /// Whether all bytes were sent, acknowledged and compared.
  var isComplete: Bool { verified == total }

  /// The range of bytes to send now; `nil` if the window is full or all bytes are sent.
  var sendable: Range<Int>? {
    let end = min(next + chunk, total)
    guard next < end, end <= limit, !isHeldBack else { return nil }
    return next..<end
  }

  /// The progress of the device.
  var marks: Patience.Marks {
    Patience.Marks(acknowledged: acknowledged, durable: durable, granted: limit)
  }

  /// Returns the lowest offset to which sending went back since the last call; `nil` if sending did
  /// not go back.
  mutating func takeSetback() -> Int? { setback.take() }

  /// The limit to which the size of data writes was reduced; `nil` if the size was not reduced.
  var reducedCeiling: Int? { ceiling == .max ? nil : ceiling }

  /// Returns the limit of data writes that was verified since the last call; `nil` if no limit was
  /// verified.
  mutating func takeVerifiedCeiling() -> Int? { verifiedCeiling.take() }

  /// Whether only the host's window limit prevents the next write. If so, the device has no reason
  /// to send a Status, and the host must read Status.
  var isHeldBack: Bool {
    let end = min(next + chunk, total)
    return next < end && end <= limit && end > acknowledged + max(windowLimit, chunk)
  }

  /// The end of the bytes that may be sent now.
  private var reach: Int { min(limit, acknowledged + max(windowLimit, chunk)) }

  /// Returns whether the write of `range` is the last write of the content, or the last write that
  /// fits the window, so that a response is useful. The end of a window is fixed at its first
  /// write, even if the device then permits more.
  func closesWindow(_ range: Range<Int>) -> Bool {
    guard range.upperBound < total else { return true }
    return min(range.upperBound + chunk, total) > min(windowEnd ?? reach, reach)
  }

  /// Records that the bytes in `range` were written.
  ///
  /// - Parameter isCheckpoint: whether the write is a request whose response is processed later.
  mutating func sent(_ range: Range<Int>, isCheckpoint: Bool = false) {
    precondition(range.lowerBound == next)
    if isCheckpoint {
      windowEnd = nil
      checkpoint = range
    } else if windowEnd == nil {
      windowEnd = reach
    }
    next = range.upperBound
    sentEnd = max(sentEnd, next)
  }

  /// Records the response to the checkpoint. Returns `false` if sending went back to an offset
  /// before the checkpoint, which makes the response meaningless.
  mutating func takeCheckpoint() -> Bool { checkpoint.take() != nil }

  /// Records a Write Response: the device has these bytes, but their CRC32 has not been compared
  /// yet.
  mutating func accepted(_ range: Range<Int>) {
    acknowledged = max(acknowledged, range.upperBound)
    noteProgress()
  }

  /// Records that the device was busy, and discarded this write and all later writes. The host then
  /// waits for the device.
  mutating func refused(_ range: Range<Int>) {
    next = range.lowerBound
    limit = range.lowerBound
  }

  /// Goes back to `offset`, from which the bytes must be sent again.
  private mutating func goBack(to offset: Int) {
    next = offset
    acknowledged = offset
    setback = min(setback ?? offset, offset)
    if let sent = checkpoint, offset < sent.upperBound { checkpoint = nil }
  }

  /// Processes a notified or read Status. If `isAnswer`, the Status was read after all bytes before
  /// `next` were sent, so missing bytes were lost.
  mutating func received(
    _ status: OTAStatus, isAnswer: Bool
  ) throws(UpdateFault) -> Reaction {
    guard status.nextOffset <= sentEnd else {
      throw .protocolViolation(
        .upload, "the device reports \(status.nextOffset) bytes, but only \(sentEnd) were sent")
    }
    let isNews = isAnswer || status.note != .none
    // A notification is outdated if a later read has already been answered.
    guard isNews || status.nextOffset >= verified else { return .proceed }
    limit = isNews ? status.limit : max(limit, status.limit)
    durable = status.durableOffset
    guard prefixes.checksum(ofFirst: status.nextOffset) == status.crc32 else {
      return try discard(status)
    }
    verified = status.nextOffset
    if verified > verifiedEnd {
      verifiedEnd = verified
      discards = 0
    }
    acknowledged = isNews ? status.nextOffset : max(acknowledged, status.nextOffset)
    // The bytes that the device already has need not be sent again.
    next = max(next, status.nextOffset)
    noteProgress()
    switch status.note {
    case .gap: return try resend(from: status.nextOffset, because: .gap)
    case .overrun: return try resend(from: status.nextOffset, because: .overrun)
    case .none where isAnswer && status.nextOffset < next:
      return try resend(from: status.nextOffset, because: .silence)
    case .none, .flashFault, .noSession, .notAuthorized, .patchRefused: return .proceed
    }
  }

  private mutating func resend(
    from offset: Int, because reason: RewindReason
  ) throws(UpdateFault) -> Reaction {
    guard offset < next else { return .proceed }
    rewinds += 1
    guard rewinds <= Self.rewindsMaximum else {
      throw .noProgress(atOffset: offset, repeats: rewinds)
    }
    for step in Self.chunkLadder where rewinds >= step.rewinds { ceiling = step.chunk }
    chunk = min(chunk, ceiling)
    goBack(to: offset)
    return .resend(from: offset, because: reason)
  }

  private mutating func discard(_ status: OTAStatus) throws(UpdateFault) -> Reaction {
    let from = min(verified, status.nextOffset)
    discards += 1
    guard discards <= Self.blockRepeatsMaximum else {
      throw .blockKeepsFailing(atOffset: from, attempts: discards)
    }
    return .discard(from: from)
  }

  /// Processes the device's answer to REWIND: the offset is now `position`.
  mutating func rewound(to position: OTAPosition) throws(UpdateFault) {
    guard position.nextOffset <= verified,
      position.crc32 == prefixes.checksum(ofFirst: position.nextOffset)
    else {
      throw .blockKeepsFailing(atOffset: position.nextOffset, attempts: discards)
    }
    goBack(to: position.nextOffset)
    verified = position.nextOffset
    limit = position.nextOffset
  }

  /// Resets the count of rewinds when the maximum offset advances.
  private mutating func noteProgress() {
    guard acknowledged > furthest else { return }
    furthest = acknowledged
    if rewinds >= Self.chunkLadder[0].rewinds { verifiedCeiling = ceiling }
    rewinds = 0
  }
}
