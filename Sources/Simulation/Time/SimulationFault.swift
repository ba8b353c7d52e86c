import OtaflashATT

/// Why a simulated run did not come to its end: a hang of the code under test, found at once and
/// at the same place in every run.
public enum SimulationFault: Error, Equatable, Sendable {
  /// Nothing can run and no timer is set, but the body has not returned: a lost wake-up.
  case deadlocked(at: LinkInstant)
  /// Virtual time would pass the limit of the run: something waits, polls or retries for ever.
  case timeLimitExceeded(limit: Duration)
  /// `jobs` jobs ran without the clock moving: something spins.
  case spinning(at: LinkInstant, jobs: Int)
}

extension SimulationFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .deadlocked(let instant):
      "nothing could run any more after \(Numerals.seconds(instant.elapsed)): a lost wake-up"
    case .timeLimitExceeded(let limit): "it took longer than \(Numerals.seconds(limit))"
    case .spinning(let instant, let jobs):
      "\(jobs) jobs ran after \(Numerals.seconds(instant.elapsed)), and no time passed"
    }
  }
}
