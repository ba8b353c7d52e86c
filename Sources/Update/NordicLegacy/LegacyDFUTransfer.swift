/// The window of one transfer: how far sending may run ahead of the receipts. Pure.
///
/// Legacy DFU has no way back: after a packet that was dropped the transfer starts over. A device
/// that has no buffer for a packet says so. One that never met the packet does not know: its
/// receipts count what has arrived, so they come later, and are right. So it is asked what it has,
/// now and then and behind the last packet; the answer counts all that was sent before the
/// question.
///
/// The window opens with one receipt's worth of packets, and grows by as much with every receipt
/// that is right, to what the pace permits.
struct LegacyDFUTransfer {
  /// Bytes between two questions: a round trip in well over a second of sending.
  static let questionSpacing = 16 * 1024

  let total: Int
  let packetSize: Int
  /// Packets ahead of the last receipt at most.
  private(set) var window: Int
  private let pace: LegacyDFUPace
  private(set) var next = 0
  private(set) var acknowledged = 0
  /// The device has said that it has everything.
  private(set) var isWhole = false
  private var lastReport: Int?
  /// The device answers questions.
  private var asks: Bool
  /// What had been sent when the device was asked last, and whether it has yet to answer.
  private var asked = 0
  private var isAnswerDue = false

  init(total: Int, packetSize: Int, pace: LegacyDFUPace, asks: Bool = true) {
    precondition(packetSize > 0)
    self.total = total
    self.packetSize = packetSize
    self.pace = pace
    window = pace.receiptInterval
    self.asks = asks
  }

  /// The device is to be asked what it has, before anything else is sent.
  var isQuestionDue: Bool {
    if isInDoubt { return true }
    guard asks, !isAnswerDue, !isWhole, next > asked else { return false }
    return next == total || next - asked >= Self.questionSpacing
  }

  /// It had less than was sent, and is asked once more before anything else is sent: receipts go on
  /// while it takes what is behind a hole.
  private var isInDoubt: Bool { asks && !isAnswerDue && lastReport != nil }

  mutating func question() {
    asked = next
    isAnswerDue = true
  }

  /// It does not know the question.
  mutating func questionRefused() {
    asks = false
    isAnswerDue = false
    lastReport = nil
  }

  /// The bytes of the next packet, or `nil` when a receipt must come first or all is sent.
  var sendable: Range<Int>? {
    guard lastReport == nil, next < total, next - acknowledged < window * packetSize else {
      return nil
    }
    return next..<min(next + packetSize, total)
  }

  mutating func sent(_ packet: Range<Int>) {
    precondition(packet.lowerBound == next)
    next = packet.upperBound
  }

  enum Reaction: Equatable {
    case proceed
    /// The device has not taken every packet.
    case lost
  }

  /// A receipt: the bytes of image that the device has taken.
  ///
  /// - Throws: `.protocolViolation` when it has more than was sent.
  mutating func received(receipt bytes: Int) throws(UpdateFault) -> Reaction {
    try check(bytes)
    // One that a report has overtaken tells nothing.
    guard bytes > acknowledged else { return .proceed }
    let span = pace.receiptInterval * packetSize
    guard bytes == min((acknowledged / span + 1) * span, total) else { return .lost }
    acknowledged = bytes
    window = min(window + pace.receiptInterval, pace.window)
    return .proceed
  }

  /// The answer to a question for what was received. A device that is busy has less than was sent
  /// before it was asked, but not the same twice.
  ///
  /// - Throws: as `received(receipt:)`.
  mutating func reported(_ bytes: Int) throws(UpdateFault) -> Reaction {
    try check(bytes)
    let sent = isAnswerDue ? asked : next
    isAnswerDue = false
    guard bytes < sent else {
      lastReport = nil
      acknowledged = max(acknowledged, bytes)
      return .proceed
    }
    defer { lastReport = bytes }
    return bytes == lastReport ? .lost : .proceed
  }

  /// The device says that it has the whole image.
  ///
  /// - Throws: `.protocolViolation` when it was not all sent.
  mutating func answered() throws(UpdateFault) {
    try check(total)
    acknowledged = total
    isWhole = true
  }

  private func check(_ bytes: Int) throws(UpdateFault) {
    guard bytes <= next else {
      throw .protocolViolation(
        .upload, "the device says it has \(bytes) bytes; \(next) were sent")
    }
  }
}
