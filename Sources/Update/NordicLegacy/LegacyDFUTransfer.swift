/// The window of one transfer: how far sending may run ahead of the receipts. Pure.
///
/// Legacy DFU has no way back: a packet that the device dropped shows in the next receipt, and the
/// transfer starts over. So the window opens with one receipt's worth of packets, and grows by as
/// much with every receipt that is right, to what the pace permits.
struct LegacyDFUTransfer {
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

  init(total: Int, packetSize: Int, pace: LegacyDFUPace) {
    precondition(packetSize > 0)
    self.total = total
    self.packetSize = packetSize
    self.pace = pace
    window = pace.receiptInterval
  }

  /// The octets of the next packet, or `nil` when a receipt must come first or all is sent.
  var sendable: Range<Int>? {
    guard next < total, next - acknowledged < window * packetSize else { return nil }
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

  /// A receipt: the octets of image that the device has taken.
  ///
  /// - Throws: `.protocolViolation` when it has more than was sent.
  mutating func received(receipt octets: Int) throws(UpdateFault) -> Reaction {
    try check(octets)
    // One that a report has overtaken tells nothing.
    guard octets > acknowledged else { return .proceed }
    let span = pace.receiptInterval * packetSize
    guard octets == min((acknowledged / span + 1) * span, total) else { return .lost }
    acknowledged = octets
    lastReport = nil
    window = min(window + pace.receiptInterval, pace.window)
    return .proceed
  }

  /// The answer to a question for what was received, asked because no receipt came. A device that
  /// is busy has less than was sent, but not the same twice.
  ///
  /// - Throws: as `received(receipt:)`.
  mutating func reported(_ octets: Int) throws(UpdateFault) -> Reaction {
    try check(octets)
    defer { lastReport = octets }
    if octets == next {
      acknowledged = octets
      return .proceed
    }
    return octets == lastReport ? .lost : .proceed
  }

  /// The device says that it has the whole image.
  ///
  /// - Throws: `.protocolViolation` when it was not all sent.
  mutating func answered() throws(UpdateFault) {
    try check(total)
    acknowledged = total
    isWhole = true
  }

  private func check(_ octets: Int) throws(UpdateFault) {
    guard octets <= next else {
      throw .protocolViolation(
        .upload, "the device says it has \(octets) octets; \(next) were sent")
    }
  }
}
