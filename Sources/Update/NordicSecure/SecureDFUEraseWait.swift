/// How long a boot loader erases a page, as learned from what it loses.
///
/// A data object is answered while the erase of its page is still to come, and what does not fit
/// the boot loader's queues meanwhile is dropped without a word. So only a few packets go out until
/// the erase must have ended. An nRF52 needs at most 89.7 ms for a page by its data sheet, more
/// when its radio is busy, and the wait is counted from the answer to create, when the erase has
/// begun already. A wait too short costs a whole object, one too long a few milliseconds: it never
/// goes below the data sheet's time.
struct SecureDFUEraseWait: Equatable, Sendable {
  static let initial = Duration.milliseconds(90)
  static let maximum = initial * 16

  /// Packets that go out before. The queue for flash operations has 16 places in nRF5 SDK 15, of
  /// which the erase itself holds one.
  static let packetsInitial = 15

  private(set) var duration = initial
  private(set) var packets = packetsInitial

  /// An object was not taken whole: the erase may have lasted longer.
  mutating func missed() { duration = min(duration * 2, Self.maximum) }

  /// It was missed although the wait was longer already: the queue may be shorter, and stays so.
  mutating func overflowed() { packets = max(1, packets / 2) }

  /// An object was taken whole: what a disturbance has added is given back slowly.
  mutating func held() { duration = max(Self.initial, duration * 7 / 8) }
}
