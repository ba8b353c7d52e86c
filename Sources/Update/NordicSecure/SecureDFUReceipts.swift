/// The receipts that a bootloader notifies after every so many packets. They have the bytes of an
/// answer to checksum; which of the two a message is follows from what was sent.
struct SecureDFUReceipts: Equatable, Sendable {
  /// From this packet size on no receipts are wanted: an object has hardly more packets than may
  /// go out before its erase has ended.
  static let packetSizeWithout = 244
  /// Packets to one receipt below that: within what a bootloader's queues hold.
  private static let intervalDefault = 12

  /// Packets to one receipt; 0 = no receipts.
  let interval: Int
  private var sent = 0
  private var taken = 0

  init(interval: Int) { self.interval = interval }

  init(packetSize: Int) {
    self.init(interval: packetSize >= Self.packetSizeWithout ? 0 : Self.intervalDefault)
  }

  /// The bootloader's count starts over with every object.
  mutating func restart() {
    sent = 0
    taken = 0
  }

  mutating func packetSent() { sent += 1 }

  /// A receipt for what was sent has not come yet.
  var isDue: Bool { interval > 0 && sent / interval > taken }

  mutating func received() { taken += 1 }

  /// A receipt did not come in time: no more is waited for it.
  mutating func giveUp() { taken = interval > 0 ? sent / interval : 0 }
}
