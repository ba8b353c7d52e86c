/// The pace of a transfer: the number of packets per receipt, and the maximum number of packets
/// ahead of the receipts.
struct LegacyDFUPace: Equatable, Sendable {
  /// The number of packets per receipt. It is less than 256, because some devices evaluate only the
  /// low byte.
  let receiptInterval: Int
  let window: Int

  init(receiptInterval: Int, window: Int) {
    precondition((1...255).contains(receiptInterval) && window >= receiptInterval)
    self.receiptInterval = receiptInterval
    self.window = window
  }

  /// The paces, fastest first. A lost packet makes the complete transfer start over, so each loss
  /// leads to the next pace. The first pace fills several connection events if the device writes
  /// its flash fast enough. The second waits for every receipt. The third has at most 4 packets in
  /// flight, half of the buffers of SDK 11 (8). The last has one packet in flight.
  static let ladder = [
    LegacyDFUPace(receiptInterval: 10, window: 120),
    LegacyDFUPace(receiptInterval: 10, window: 10),
    LegacyDFUPace(receiptInterval: 4, window: 4),
    LegacyDFUPace(receiptInterval: 1, window: 1),
  ]

  /// The number of packets that the buffers of Adafruit's bootloader hold while the flash is not
  /// ready. Full buffers, not the pace, may cause a loss among this number of first packets.
  static let firstBuffers = 16

  /// Selects the pace for the number of losses so far.
  ///
  /// - Parameter limit: the caller's maximum number of packets ahead of the receipts; a value below
  ///   `receiptInterval` is raised to `receiptInterval`.
  init(afterLosses losses: Int, limit: Int = .max) {
    let step = Self.ladder[min(losses, Self.ladder.count - 1)]
    self.init(
      receiptInterval: step.receiptInterval,
      window: max(step.receiptInterval, min(step.window, limit)))
  }
}
