import OtaflashATT

/// How long a bootloader erases a page, and then writes it, as learned from what it loses.
///
/// A data object is answered while the erase of its page is still to come, and what does not fit
/// the bootloader's queues meanwhile is dropped without a word. So only a few packets go out until
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

  /// Behind the erase, by the byte: 100 µs a word, twice what an nRF51 needs. The writes of a part
  /// whose flash is slower than the air fill the same queue.
  static let paceInitial = Duration.microseconds(25)
  static let paceMaximum = paceInitial * 16

  private(set) var duration = initial
  private(set) var packets = packetsInitial
  /// Zero until a bootloader has proven slower than the air.
  private(set) var paceByByte = Duration.zero

  /// An object was not taken whole: the erase may have lasted longer.
  mutating func missed() { duration = min(duration * 2, Self.maximum) }

  /// It was missed although the wait was longer already: the queue may be shorter, or the flash
  /// slower, and stays so. No packet goes out before the erase from then on: writes of the object
  /// that was given up may still fill the queue when the object is created again.
  mutating func overflowed() {
    packets = 0
    paceByByte = max(Self.paceInitial, min(paceByByte * 4, Self.paceMaximum))
  }

  /// When the next packet of an object may go out; `nil` = at once.
  ///
  /// - Parameters:
  ///   - sent: packets that went out since the object was created.
  ///   - size: bytes of each.
  ///   - erased: when the object's page is erased.
  func opening(behind sent: Int, of size: Int, erased: LinkInstant) -> LinkInstant? {
    guard sent >= packets else { return nil }
    return erased.advanced(by: paceByByte * size * (sent - packets))
  }

  /// An object was taken whole: what a disturbance has added is given back slowly.
  mutating func held() { duration = max(Self.initial, duration * 7 / 8) }
}
