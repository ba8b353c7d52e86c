import OtaflashGATT

/// The parts of a board that its firmware uses.
struct BoardParts: Sendable {
  let settings: BoardSettings
  /// The name of the application.
  let applicationName: String
  let flash: SimulatedFlash
  let random: SeededRandom
  let clock: any LinkClock
  /// Wakes the main loop.
  let wake: @Sendable () -> Void
  /// Records a failed flash access of the firmware.
  let note: @Sendable (FlashFault) -> Void
}

extension BoardParts {
  /// The time between an answer and the device's reset: three connection events plus the time of
  /// the main loop.
  var answerTime: Duration { settings.radio.interval.duration * 3 + .milliseconds(50) }

  /// The generator of the factory image.
  var factoryRandom: SeededRandom {
    settings.factorySeed.map { SeededRandom(seed: $0) } ?? random.forked(for: 2)
  }

  /// The index of the page with the bad block in a slot, from 0.
  private static let badPage = 5

  /// Makes one page of the slot that starts at the address `slot` a bad block.
  func weakenPage(of slot: Int) {
    flash.weaken(pageAt: slot + Self.badPage * settings.layout.pageSize)
  }
}
