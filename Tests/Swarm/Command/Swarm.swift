import Dispatch
import Glibc
import OtaflashSimulation
import OtaflashSwarm
import OtaflashUpdate
import Synchronization

/// `otaflash-swarm --seeds N [--first F] [--jobs J]` runs the scenarios of N seeds; `--seed S` shows
/// one. Exits with 1 when something happened that no fault may lead to.
@main struct Swarm {
  private static let usage = "usage: otaflash-swarm [--seeds N] [--first N] [--jobs N] | --seed N"

  static func main() {
    var seeds: UInt64 = 10_000
    var first: UInt64 = 1
    var jobs: UInt64 = 2
    var arguments = CommandLine.arguments.dropFirst()
    while let option = arguments.popFirst() {
      guard let value = arguments.popFirst().flatMap({ UInt64($0) }) else { stop(usage) }
      switch option {
      case "--seeds": seeds = value
      case "--first": first = value
      case "--jobs": jobs = max(1, value)
      case "--seed": exit(Replay(seed: value).show() ? 0 : 1)
      default: stop(usage)
      }
    }
    exit(sweep(first..<first + seeds, jobs: Int(jobs)) ? 0 : 1)
  }

  private static func stop(_ text: String) -> Never {
    print(text)
    exit(64)
  }

  /// Runs the seeds on several threads; `true` when nothing was violated.
  private static func sweep(_ seeds: Range<UInt64>, jobs: Int) -> Bool {
    let census = Census()
    let next = Atomic<UInt64>(seeds.lowerBound)
    let clock = ContinuousClock()
    let began = clock.now
    DispatchQueue.concurrentPerform(iterations: jobs) { _ in
      while true {
        let seed = next.add(1, ordering: .relaxed).oldValue
        guard seeds.contains(seed) else { return }
        let scenarioBegan = clock.now
        let judgement = Judgement(of: .swarm(seed: seed))
        census.note(seed, judgement, seconds: (clock.now - scenarioBegan) / .seconds(1))
      }
    }
    return census.report(seeds: seeds.count, seconds: (clock.now - began) / .seconds(1))
  }
}

/// What came of many seeds.
private final class Census: Sendable {
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

/// One seed, told in full.
private struct Replay {
  let seed: UInt64

  func show() -> Bool {
    let scenario = Scenario.swarm(seed: seed)
    print("device   sim:\(scenario.profile)")
    print(
      "update   \(scenario.image.bytes.count) octets, version \(scenario.image.version?.description ?? "-"), "
        + "\(scenario.mode.rawValue), MTU \(scenario.mtu)")
    if let moment = scenario.cancelAfter { print("cancel   after \(moment)") }
    if let moment = scenario.powerCutAfter { print("power    fails after \(moment)") }
    if !scenario.losses.isEmpty { print("losses   \(scenario.losses)") }
    let judgement = Judgement(of: scenario)
    for event in judgement.ending?.events ?? [] { print("  \(event)") }
    if let ending = judgement.ending { print("ending   \(ending.outcome), \(ending.counters)") }
    for violation in judgement.violations { print("VIOLATED \(violation)") }
    return judgement.violations.isEmpty
  }
}
