import OtaflashATT

/// The time in which a bootloader erases and writes a page, adapted to the observed losses.
///
/// The bootloader answers the creation of a data object before the erase of the object's page has
/// ended. Packets that exceed the bootloader's queues during the erase are dropped silently. The
/// host therefore sends only a few packets until the erase has ended. According to the data sheet,
/// an nRF52 erases a page in at most 89.7 ms, but the erase takes longer while the radio is busy.
/// The wait starts at the response to create, when the erase has already started. A wait that is
/// too short costs a complete object, whereas a longer wait costs a few milliseconds. The wait is
/// therefore never shorter than the time in the data sheet.
struct SecureDFUEraseWait: Equatable, Sendable {
  static let initial = Duration.milliseconds(90)
  static let maximum = initial * 16

  /// The number of packets that are sent before the erase ends. In nRF5 SDK 15, the queue for flash
  /// operations has 16 places, one of which the erase occupies.
  static let packetsInitial = 15

  /// The time per byte after the erase: 100 µs per word, twice the time of an nRF51. This time
  /// applies to a device whose flash is slower than the link, because its pending writes fill the
  /// queue for flash operations.
  static let paceInitial = Duration.microseconds(25)
  static let paceMaximum = paceInitial * 16

  private(set) var duration = initial
  private(set) var packets = packetsInitial
  /// The current time per byte after the erase; zero until losses show that the flash is slower
  /// than the link.
  private(set) var paceByByte = Duration.zero

  /// Lengthens the wait after an object did not arrive completely: the erase may have taken longer.
  mutating func missed() { duration = min(duration * 2, Self.maximum) }

  /// Adapts to an object that was lost despite the longer wait: the queue may be shorter, or the
  /// flash may be permanently slower. After this point, no packet is sent before the end of the
  /// erase, because writes of the abandoned object may still fill the queue when the object is
  /// created again.
  mutating func overflowed() {
    packets = 0
    paceByByte = max(Self.paceInitial, min(paceByByte * 4, Self.paceMaximum))
  }

  /// Returns the time at which to send the next packet of an object; `nil` = immediately.
  ///
  /// - Parameters:
  ///   - sent: the number of packets sent since the object was created.
  ///   - size: the size of each packet in bytes.
  ///   - erased: the end of the erase of the object's page.
  func opening(behind sent: Int, of size: Int, erased: LinkInstant) -> LinkInstant? {
    guard sent >= packets else { return nil }
    return erased.advanced(by: paceByByte * size * (sent - packets))
  }

  /// Shortens the wait slightly, down to its initial value, after an object arrived completely.
  mutating func held() { duration = max(Self.initial, duration * 7 / 8) }
}
