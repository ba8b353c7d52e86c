import OtaflashFleet

/// The result of one wave.
package struct WaveReport: Hashable, Sendable {
  package let name: String
  /// The rule of the wave; `nil` = the rule was not recorded.
  package let rule: WaveRule?
  /// The indexes of the wave's devices in the report.
  package let devices: Range<Int>
  package let counts: OutcomeCounts
  package let phase: WaveProgress.Phase
  package let verdict: WaveVerdict?
  /// Whether the run has ended; an incomplete wave then stays incomplete.
  package let isOver: Bool
  package let times: WaveTimes

  package init(_ wave: WaveProgress, rule: WaveRule?, counts: OutcomeCounts, isOver: Bool) {
    name = wave.name
    self.rule = rule
    devices = wave.devices
    self.counts = counts
    phase = wave.phase
    verdict = wave.verdict
    self.isOver = isOver
    times = wave.times
  }
}
