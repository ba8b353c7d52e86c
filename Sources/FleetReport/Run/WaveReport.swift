import OtaflashFleet

/// How a wave went.
package struct WaveReport: Hashable, Sendable {
  package let name: String
  /// What decides about it; `nil` = a run that did not record it.
  package let rule: WaveRule?
  /// Its devices, by their place in the report.
  package let devices: Range<Int>
  package let counts: OutcomeCounts
  package let phase: WaveProgress.Phase
  package let verdict: WaveVerdict?
  /// The run has ended: what the wave has not reached, it will not reach.
  package let isOver: Bool
  package let times: WaveTimes

  init(_ wave: WaveProgress, rule: WaveRule?, counts: OutcomeCounts, isOver: Bool) {
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
