import OtaflashFleet
import Synchronization

/// What a forecast has simulated so far.
package struct ForecastProgress: Hashable, Sendable {
  package let runsEnded: Int
  package let runs: Int
  /// Of all the work, 0…1; an estimate, since attempts are repeated.
  package let share: Double
}

/// Counts the work of the simulated runs, and ends them when the time for the forecast is over. The
/// first run is always completed: without it there is no forecast.
final class ForecastWatch: Sendable {
  private struct State {
    var runsEnded = 0
    /// Devices that were worked on in the runs under way.
    var attempts = 0
    var isFirstDone = false
  }

  private let runs: Int
  private let devices: Int
  private let isTimeOver: @Sendable () -> Bool
  private let progress: @Sendable (ForecastProgress) -> Void
  private let state = Mutex(State())

  init(
    runs: Int, devices: Int, isTimeOver: @escaping @Sendable () -> Bool,
    _ progress: @escaping @Sendable (ForecastProgress) -> Void
  ) {
    self.runs = runs
    self.devices = devices
    self.isTimeOver = isTimeOver
    self.progress = progress
  }

  /// Whether a run that is under way, or would start, is not needed any more.
  var isOver: Bool { state.withLock { $0.isFirstDone } && isTimeOver() }

  func attemptEnded() { report { $0.attempts += 1 } }

  func runEnded(isFirst: Bool, attempts: Int) {
    report { state in
      state.runsEnded += 1
      state.attempts -= attempts
      state.isFirstDone = state.isFirstDone || isFirst
    }
  }

  private func report(_ change: (inout State) -> Void) {
    let now = state.withLock { state in
      change(&state)
      let underWay = min(
        Double(state.attempts) / Double(max(devices, 1)), Double(runs - state.runsEnded))
      return ForecastProgress(
        runsEnded: state.runsEnded, runs: runs,
        share: (Double(state.runsEnded) + max(underWay, 0)) / Double(max(runs, 1)))
    }
    progress(now)
  }
}
