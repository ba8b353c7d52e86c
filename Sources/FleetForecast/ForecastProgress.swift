import OtaflashFleet
import Synchronization

/// The progress of a forecast.
package struct ForecastProgress: Hashable, Sendable {
  package let runsEnded: Int
  package let runs: Int
  /// The completed share of the work, 0…1. The value is an estimate, because attempts are repeated.
  package let share: Double
}

/// The watch that counts the work of simulated runs, and ends them at the time limit. The first run
/// is always completed, because a forecast requires one run.
final class ForecastWatch: Sendable {
  private struct State {
    var runsEnded = 0
    /// The number of attempts in the current runs.
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

  /// Whether the current runs and all further runs are no longer needed.
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
