import OtaflashFirmware

/// The arithmetic of one upload: what may be sent next, and what a status means. Pure; the session
/// does the sending and the waiting.
///
/// Offsets are bytes of the image. `acknowledged ≤ next ≤ limit` outside a busy device.
struct OTATransfer {
  /// What the session does about a status.
  enum Reaction: Equatable {
    case proceed
    /// Sending continues at an earlier offset: the device did not take what was sent.
    case resend(from: Int, because: RewindReason)
    /// What the device holds differs from the image: it must discard from this offset on.
    case discard(from: Int)
  }

  /// Times that bytes are discarded, wherever they lie, before the compared part must have grown.
  static let blockRepeatsMaximum = 3
  /// Rewinds without progress after which smaller writes are tried, and what they shrink to: an
  /// ATT_MTU of 247, then of 23. Some stacks announce an MTU that their buffers do not hold.
  static let chunkLadder = [(rewinds: 4, chunk: 240), (rewinds: 8, chunk: smallestChunk)]
  /// Fits the ATT_MTU of 23 that every device takes.
  static let smallestChunk = 16
  /// Times that sending goes back to the same offset, or before it, without progress.
  static let rewindsMaximum = 16

  private let prefixes: PrefixChecksums
  /// Bytes ahead of `acknowledged` at most, whatever the device permits.
  private let windowLimit: Int
  let total: Int
  /// Image bytes a data write; shrinks when a device does not take what its ATT_MTU promises.
  private(set) var chunk: Int
  /// What it has shrunk to: no write is longer from then on.
  private var ceiling = Int.max
  /// `ceiling`, after the device accepted a write of that size and no longer one.
  private var verifiedCeiling: Int?
  /// The next byte to send.
  private(set) var next: Int
  /// The device has everything before this.
  private(set) var acknowledged: Int
  /// The device's CRC32 agreed with ours up to here.
  private(set) var verified: Int
  private(set) var limit: Int
  private(set) var durable = 0
  /// The end of what was ever sent, and of what was ever acknowledged.
  private var sentEnd: Int
  private var furthest: Int
  private var rewinds = 0
  private var verifiedEnd: Int
  private var discards = 0
  /// The lowest offset that sending went back to since the last look.
  private var setback: Int?
  /// Where the window that is being filled ended when its first write went out; `nil` before that.
  private var windowEnd: Int?
  /// What the open request writes, as long as sending has not gone back to before its end.
  private var checkpoint: Range<Int>?

  /// - Parameters:
  ///   - offset: where the device said it stands, with a CRC32 that agreed.
  ///   - chunk: image bytes a data write, 1 or more.
  ///   - windowLimit: bytes sent ahead of the last acknowledgement at most, 1 or more; less than a
  ///     chunk counts as one.
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

  /// From now on data writes have so many bytes, 1 or more; no more than the device was seen to
  /// take.
  mutating func write(inChunksOf bytes: Int) {
    precondition(bytes > 0)
    chunk = min(bytes, ceiling)
  }

  /// By its last Status the device takes nothing for now.
  var isRefused: Bool { limit <= verified && verified < total }

  /// Everything was sent, acknowledged and compared.
  var isComplete: Bool { verified == total }

  /// The bytes that may go out now, or `nil` when the window is used up or all is sent.
  var sendable: Range<Int>? {
    let end = min(next + chunk, total)
    guard next < end, end <= limit, !isHeldBack else { return nil }
    return next..<end
  }

  /// Where the device stands.
  var marks: Patience.Marks {
    Patience.Marks(acknowledged: acknowledged, durable: durable, granted: limit)
  }

  /// The offset that sending went back to since this was called last, if it did. How often it may
  /// is bounded here.
  mutating func takeSetback() -> Int? { setback.take() }

  /// The limit to which the size of data writes was reduced; `nil` if it was not.
  var reducedCeiling: Int? { ceiling == .max ? nil : ceiling }

  /// The limit of data writes that was found since this was called last, if one was found.
  mutating func takeVerifiedCeiling() -> Int? { verifiedCeiling.take() }

  /// The device permits more than our own window limit does: it has no reason to say anything, so
  /// it is asked.
  var isHeldBack: Bool {
    let end = min(next + chunk, total)
    return next < end && end <= limit && end > acknowledged + max(windowLimit, chunk)
  }

  /// The end of what may be sent now.
  private var reach: Int { min(limit, acknowledged + max(windowLimit, chunk)) }

  /// Whether the write of `range` is the last that its window has room for: the one that is worth
  /// an answer. A window that moves on while it is filled ends where it did when that began.
  func closesWindow(_ range: Range<Int>) -> Bool {
    guard range.upperBound < total else { return true }
    return min(range.upperBound + chunk, total) > min(windowEnd ?? reach, reach)
  }

  /// - Parameter isCheckpoint: its answer is looked for later.
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

  /// The checkpoint was answered. Returns whether that tells anything of it still: not where
  /// sending has gone back behind it meanwhile.
  mutating func takeCheckpoint() -> Bool { checkpoint.take() != nil }

  /// A Write Response: the device has these bytes, though no CRC32 was told yet.
  mutating func accepted(_ range: Range<Int>) {
    acknowledged = max(acknowledged, range.upperBound)
    noteProgress()
  }

  /// The device was busy and took nothing of it, nor of what went out behind it: it is waited for.
  mutating func refused(_ range: Range<Int>) {
    next = range.lowerBound
    limit = range.lowerBound
  }

  /// What went out from `offset` on is to be sent again.
  private mutating func goBack(to offset: Int) {
    next = offset
    acknowledged = offset
    setback = min(setback ?? offset, offset)
    if let sent = checkpoint, offset < sent.upperBound { checkpoint = nil }
  }

  /// A Status, notified or read. `isAnswer`: it was read after everything was sent, so what it
  /// lacks was lost.
  mutating func received(
    _ status: OTAStatus, isAnswer: Bool
  ) throws(UpdateFault) -> Reaction {
    guard status.nextOffset <= sentEnd else {
      throw .protocolViolation(
        .upload, "the device says it has \(status.nextOffset) bytes; \(sentEnd) were sent")
    }
    let isNews = isAnswer || status.note != .none
    // A notification that a later read has overtaken tells nothing.
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
    // What the device has already need not be sent again.
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

  /// The device's answer to REWIND: it stands at `position` now.
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

  /// Going back is only counted between two advances of the furthest point.
  private mutating func noteProgress() {
    guard acknowledged > furthest else { return }
    furthest = acknowledged
    if rewinds >= Self.chunkLadder[0].rewinds { verifiedCeiling = ceiling }
    rewinds = 0
  }
}
