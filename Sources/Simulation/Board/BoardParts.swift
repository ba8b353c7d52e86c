import OtaflashGATT

/// What a board lends its firmware.
struct BoardParts: Sendable {
  let settings: BoardSettings
  /// What the application calls itself.
  let applicationName: String
  let flash: SimulatedFlash
  let random: SeededRandom
  let clock: any LinkClock
  /// Wakes the main loop.
  let wake: @Sendable () -> Void
  /// Keeps a fault of the firmware for who asks.
  let note: @Sendable (FlashFault) -> Void
}

extension BoardParts {
  /// How long an answer may take to cross the air before the device resets: three connection
  /// events and what the main loop needs.
  var answerTime: Duration { settings.radio.interval.duration * 3 + .milliseconds(50) }

  /// Draws the image that the board leaves the factory with.
  var factoryRandom: SeededRandom {
    settings.factorySeed.map { SeededRandom(seed: $0) } ?? random.forked(for: 2)
  }

  /// The page of a slot, from 0, that a bad block lies in.
  private static let badPage = 5

  /// Spoils one page of a slot.
  func weakenPage(of slot: Int) {
    flash.weaken(pageAt: slot + Self.badPage * settings.layout.pageSize)
  }
}
