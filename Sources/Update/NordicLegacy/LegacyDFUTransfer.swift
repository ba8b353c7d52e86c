/// The window of one transfer: how far sending may be ahead of the receipts. Pure.
///
/// Legacy DFU has no rewind: after a dropped packet the transfer starts over. A device without a
/// buffer for a packet reports it. A device that never received the packet does not know: its
/// receipts count the received bytes, so they are correct, but late. Therefore the host asks for
/// the received bytes, at intervals and after the last packet; the response counts all bytes sent
/// before the question.
///
/// The window starts with the packets of one receipt, and grows by as many with every correct
/// receipt, up to the limit of the pace.
/// that is right, to what the pace permits.
struct LegacyDFUTransfer {
  /// Bytes between two questions: one round trip in more than a second of sending.
  static let questionSpacing = 16 * 1024

  let total: Int
  let packetSize: Int
  /// The maximum number of packets ahead of the last receipt.
  private(set) var window: Int
  private let pace: LegacyDFUPace
  private(set) var next = 0
  private(set) var acknowledged = 0
  /// The device has reported that it has the complete image.
  private(set) var isWhole = false
  private var lastReport: Int?
  /// The device answers questions.
  private var asks: Bool
  /// The bytes sent before the last question, and whether its response is outstanding.
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

  /// The device must be asked before anything else is sent.
  var isQuestionDue: Bool {
    if isInDoubt { return true }
    guard asks, !isAnswerDue, !isWhole, next > asked else { return false }
    return next == total || next - asked >= Self.questionSpacing
  }

  /// It had less than was sent, and is asked again before anything else is sent: receipts continue
  /// while it processes the packets after a gap.
  private var isInDoubt: Bool { asks && !isAnswerDue && lastReport != nil }

  mutating func question() {
    asked = next
    isAnswerDue = true
  }

  /// The device does not know the question.
  mutating func questionRefused() {
    asks = false
    isAnswerDue = false
    lastReport = nil
  }

  /// The bytes of the next packet, or `nil` if a receipt must come first or all bytes are sent.
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
    /// The device has not accepted every packet.
    case lost
  }

  /// A receipt: the image bytes that the device has accepted.
  ///
  /// - Throws: `.protocolViolation` if it has more than was sent.
  mutating func received(receipt bytes: Int) throws(UpdateFault) -> Reaction {
    try check(bytes)
    // A receipt that a report has overtaken is outdated.
    guard bytes > acknowledged else { return .proceed }
    let span = pace.receiptInterval * packetSize
    guard bytes == min((acknowledged / span + 1) * span, total) else { return .lost }
    acknowledged = bytes
    window = min(window + pace.receiptInterval, pace.window)
    return .proceed
  }

  /// The response to a question. A busy device may have less than was sent before the question, but
  /// not the same number twice.
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

  /// The device reports that it has the complete image.
  ///
  /// - Throws: `.protocolViolation` if not all bytes were sent.
  mutating func answered() throws(UpdateFault) {
    try check(total)
    acknowledged = total
    isWhole = true
  }

  private func check(_ bytes: Int) throws(UpdateFault) {
    guard bytes <= next else {
      throw .protocolViolation(
        .upload, "the device reports \(bytes) bytes; \(next) were sent")
    }
  }
}
