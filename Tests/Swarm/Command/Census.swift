import OtaflashSwarm
import Synchronization

/// What came of many seeds.
final class Census: Sendable {
  private struct Counts {
    var outcomes: [String: Int] = [:]
    var failures: [(seed: UInt64, violations: [Violation])] = []
    var virtualSeconds = 0.0
    var longest = (seconds: 0.0, seed: UInt64(0))
  }

  private let counts = Mutex(Counts())

  func note(_ seed: UInt64, _ judgement: Judgement, seconds: Double) {
    counts.withLock { counts in
      counts.outcomes[judgement.ending?.outcomeName ?? "no ending", default: 0] += 1
      if !judgement.violations.isEmpty { counts.failures.append((seed, judgement.violations)) }
      counts.virtualSeconds += (judgement.ending?.took ?? .zero) / .seconds(1)
      if seconds > counts.longest.seconds { counts.longest = (seconds, seed) }
    }
  }

  /// Prints the counts and a command for each failure; `true` when there is none.
  func report(seeds: Int, seconds: Double) -> Bool {
    counts.withLock { counts in
      for (outcome, count) in counts.outcomes.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }
      ) {
        print("  \(count)\t\(outcome)")
      }
      let failures = counts.failures.sorted { $0.seed < $1.seed }
      for failure in failures {
        print(
          "seed \(failure.seed): \(failure.violations.map(\.description).joined(separator: "; "))")
        print("  replay: otaflash-swarm --seed \(failure.seed)")
      }
      print(
        "\(seeds) seeds in \(Int(seconds.rounded())) s (\(Int(counts.virtualSeconds)) s of virtual "
          + "time; the longest, seed \(counts.longest.seed), took \(Int(counts.longest.seconds * 1000)) ms): "
          + "\(failures.count) violated what must hold")
      return failures.isEmpty
    }
  }
}
