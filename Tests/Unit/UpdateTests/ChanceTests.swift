import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

@Suite struct ChanceTests {
  /// By default the clock provides random values, so that several hosts do not reconnect at the
  /// same time.
  @Test func randomValuesComeFromTheClockByDefault() {
    let clock = VirtualTimeline(chance: SeededRandom(seed: 1)).clock
    var options = UpdateOptions()
    func drawn() -> Double {
      UpdateContext(clock: clock, options: options, tally: UpdateProgressState()) { _ in }
        .randomFraction()
    }
    #expect(drawn() != drawn())
    options.random = { 0.25 }
    #expect(drawn() == 0.25)
  }
}
