/// The receipts that a bootloader sends as notifications after a number of packets. A receipt has
/// the format of a response to checksum; the previous request distinguishes the two.
struct SecureDFUReceipts: Equatable, Sendable {
  /// The minimum packet size for which no receipts are needed: an object then has only slightly
  /// more packets than may be sent before the end of its erase.
  static let packetSizeWithout = 244
  /// The number of packets per receipt for smaller packets; this number of packets fits the queues
  /// of a bootloader.
  private static let intervalDefault = 12

  /// The number of packets per receipt; 0 = no receipts.
  let interval: Int
  private var sent = 0
  private var taken = 0

  init(interval: Int) { self.interval = interval }

  init(packetSize: Int) {
    self.init(interval: packetSize >= Self.packetSizeWithout ? 0 : Self.intervalDefault)
  }

  /// Restarts the count, as the bootloader does with every object.
  mutating func restart() {
    sent = 0
    taken = 0
  }

  mutating func packetSent() { sent += 1 }

  /// Whether a receipt for the sent packets is outstanding.
  var isDue: Bool { interval > 0 && sent / interval > taken }

  mutating func received() { taken += 1 }

  /// Stops waiting for a receipt that did not arrive in time.
  mutating func giveUp() { taken = interval > 0 ? sent / interval : 0 }
}
