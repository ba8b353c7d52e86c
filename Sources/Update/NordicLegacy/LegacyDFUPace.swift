/// The pace of sending, in packets: the number of packets per receipt, and the maximum number ahead
/// of the receipts.
struct LegacyDFUPace: Equatable, Sendable {
  /// Less than 256: some devices look only at the low byte.
  let receiptInterval: Int
  let window: Int

  init(receiptInterval: Int, window: Int) {
    precondition((1...255).contains(receiptInterval) && window >= receiptInterval)
    self.receiptInterval = receiptInterval
    self.window = window
  }

  /// A lost packet costs the complete transfer, so each loss leads one step down. The first step
  /// fills the air for several connection events, as long as the device writes its flash faster;
  /// the second waits for every receipt; the third sends at most twice the 8 buffers of SDK 11; the
  /// last has one packet in flight.
  static let ladder = [
    LegacyDFUPace(receiptInterval: 10, window: 120),
    LegacyDFUPace(receiptInterval: 10, window: 10),
    LegacyDFUPace(receiptInterval: 4, window: 4),
    LegacyDFUPace(receiptInterval: 1, window: 1),
  ]

  /// Packets that the buffers hold while the flash is not ready: Adafruit's. An earlier loss may be
  /// due to this, and not to the pace.
  static let firstBuffers = 16

  /// - Parameter limit: the caller's limit of packets ahead; at least those of one receipt are
  ///   sent.
  init(afterLosses losses: Int, limit: Int = .max) {
    let step = Self.ladder[min(losses, Self.ladder.count - 1)]
    self.init(
      receiptInterval: step.receiptInterval,
      window: max(step.receiptInterval, min(step.window, limit)))
  }
}
