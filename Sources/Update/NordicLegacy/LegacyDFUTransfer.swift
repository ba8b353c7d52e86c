/// The pure logic of one transfer's window, which limits the number of packets ahead of the
/// receipts.
///
/// Legacy DFU has no rewind: after a dropped packet, the transfer starts over. A device that has no
/// buffer for a packet reports an error. A device that never received a packet cannot detect the
/// loss: its receipts count only the received bytes. The host therefore requests the number of
/// received bytes, at intervals and after the last packet. The response covers all bytes sent
/// before the request.
///
/// The window initially covers the packets of one receipt. With every correct receipt, it grows by
/// the same number of packets, up to the limit of the pace.
struct LegacyDFUTransfer {
  /// The number of bytes between two requests for the number of received bytes. A request costs one
  /// round trip; sending this number of bytes takes more than a second.
  static let questionSpacing = 16 * 1024

  let total: Int
  let packetSize: Int
  /// The maximum number of packets ahead of the last receipt.
  private(set) var window: Int
  private let pace: LegacyDFUPace
  private(set) var next = 0
  private(set) var acknowledged = 0
  /// Whether the device has reported that it has the complete image.
  private(set) var isWhole = false
  private var lastReport: Int?
  /// Whether the device supports the request for the number of received bytes.
  private var asks: Bool
  /// The number of bytes sent before the last request, and whether its response is outstanding.
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

  /// Whether the number of received bytes must be requested before anything else is sent.
  var isQuestionDue: Bool {
    if isInDoubt { return true }
    guard asks, !isAnswerDue, !isWhole, next > asked else { return false }
    return next == total || next - asked >= Self.questionSpacing
  }

  /// Whether the device reported fewer bytes than were sent, so that the request must be repeated
  /// before anything else is sent. Receipts alone do not show a lost packet, because the device
  /// also sends receipts for the packets after the lost packet.
  private var isInDoubt: Bool { asks && !isAnswerDue && lastReport != nil }

  mutating func question() {
    asked = next
    isAnswerDue = true
  }

  /// Records that the device does not support the request.
  mutating func questionRefused() {
    asks = false
    isAnswerDue = false
    lastReport = nil
  }

  /// The range of the next packet's bytes in the image, or `nil` if a receipt or a report must
  /// arrive first, or if all bytes are sent.
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
    /// The device did not accept all packets.
    case lost
  }

  /// Processes a receipt with the number of image bytes that the device has accepted.
  ///
  /// - Throws: `.protocolViolation` if the device reports more bytes than were sent.
  mutating func received(receipt bytes: Int) throws(UpdateFault) -> Reaction {
    try check(bytes)
    // A receipt is outdated if a later report has already arrived.
    guard bytes > acknowledged else { return .proceed }
    let span = pace.receiptInterval * packetSize
    guard bytes == min((acknowledged / span + 1) * span, total) else { return .lost }
    acknowledged = bytes
    window = min(window + pace.receiptInterval, pace.window)
    return .proceed
  }

  /// Processes the device's report of the number of received bytes. A busy device may report fewer
  /// bytes than were sent before the request. If it reports the same number again, packets were
  /// lost.
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

  /// Processes the report that the device has the complete image.
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
        .upload, "the device reports \(bytes) bytes, but only \(next) were sent")
    }
  }
}
