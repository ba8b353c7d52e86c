/// How fast packets are sent, in packets: a receipt is wanted after every so many, and so many are
/// sent ahead of the receipts at most.
struct LegacyDFUPace: Equatable, Sendable {
  /// Less than 256: some devices look only at the low byte.
  let receiptInterval: Int
  let window: Int

  init(receiptInterval: Int, window: Int) {
    precondition((1...255).contains(receiptInterval) && window >= receiptInterval)
    self.receiptInterval = receiptInterval
    self.window = window
  }

  /// A lost packet costs the whole transfer, so each loss leads one step down. The first fills the
  /// air for several connection events, as long as the device writes its flash faster than that;
  /// the second waits for every receipt; the third stays within the 8 buffers of SDK 11 twice over;
  /// the last has one packet on its way.
  static let ladder = [
    LegacyDFUPace(receiptInterval: 10, window: 120),
    LegacyDFUPace(receiptInterval: 10, window: 10),
    LegacyDFUPace(receiptInterval: 4, window: 4),
    LegacyDFUPace(receiptInterval: 1, window: 1),
  ]

  /// Packets that the buffers of a device hold which is not ready for its flash: Adafruit's. What
  /// is dropped before may tell of that, and not of the pace.
  static let firstBuffers = 16

  /// - Parameter limit: packets ahead that the caller permits; a receipt's worth is always sent.
  init(afterLosses losses: Int, limit: Int = .max) {
    let step = Self.ladder[min(losses, Self.ladder.count - 1)]
    self.init(
      receiptInterval: step.receiptInterval,
      window: max(step.receiptInterval, min(step.window, limit)))
  }
}
