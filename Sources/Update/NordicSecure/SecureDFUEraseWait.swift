import OtaflashATT

/// The time in which a bootloader erases and writes a page, adapted to its losses.
///
/// A data object is answered before the erase of its page, and packets that do not fit the
/// bootloader's queues meanwhile are dropped silently. So only a few packets are sent until the
/// erase must have ended. By its data sheet, an nRF52 needs at most 89.7 ms for a page, and more
/// when its radio is busy. The wait starts at the response to create, when the erase has already
/// started. A wait that is too short costs a complete object, a longer one a few milliseconds: it
/// is never shorter than the data sheet's time.
struct SecureDFUEraseWait: Equatable, Sendable {
  static let initial = Duration.milliseconds(90)
  static let maximum = initial * 16

  /// Packets that are sent before the erase ends. The queue for flash operations has 16 places in
  /// nRF5 SDK 15, of which the erase holds one.
  static let packetsInitial = 15

  /// The time after the erase per byte: 100 µs a word, twice the time of an nRF51. The writes of a
  /// device whose flash is slower than the air fill the same queue.
  static let paceInitial = Duration.microseconds(25)
  static let paceMaximum = paceInitial * 16

  private(set) var duration = initial
  private(set) var packets = packetsInitial
  /// Zero until a bootloader is slower than the air.
  private(set) var paceByByte = Duration.zero

  /// An object did not arrive completely: the erase may have taken longer.
  mutating func missed() { duration = min(duration * 2, Self.maximum) }

  /// The object was lost although the wait was already longer: the queue may be shorter, or the
  /// flash permanently slower. From now on, no packet is sent before the end of the erase: writes
  /// of the abandoned object may still fill the queue when the object is created again.
  mutating func overflowed() {
    packets = 0
    paceByByte = max(Self.paceInitial, min(paceByByte * 4, Self.paceMaximum))
  }

  /// The time of the next packet of an object; `nil` = immediately.
  ///
  /// - Parameters:
  ///   - sent: packets sent since the object was created.
  ///   - size: bytes of each.
  ///   - erased: the end of the erase of the object's page.
  func opening(behind sent: Int, of size: Int, erased: LinkInstant) -> LinkInstant? {
    guard sent >= packets else { return nil }
    return erased.advanced(by: paceByByte * size * (sent - packets))
  }

  /// An object arrived completely: the wait decreases slowly to its initial value.
  mutating func held() { duration = max(Self.initial, duration * 7 / 8) }
}
