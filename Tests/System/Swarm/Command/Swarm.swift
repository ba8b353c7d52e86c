import Dispatch
import Glibc
import OtaflashSwarm
import Synchronization

/// `otaflash-swarm --seeds N [--first F] [--jobs J]` runs the scenarios of N seeds; `--seed S`
/// shows one seed; `--only KIND` selects devices whose kind starts with KIND; `--cuts FOLDER` cuts
/// the update of each sample at each of its PDUs. Exit code 1: a fault led to a violation.
@main struct Swarm {
  private static let usage = """
    usage: otaflash-swarm [--seeds N] [--first N] [--jobs N] [--only KIND]
           otaflash-swarm --seed N
           otaflash-swarm [--jobs N] [--only KIND] --cuts FOLDER
    """

  static func main() {
    var seeds: UInt64 = 10_000
    var first: UInt64 = 1
    var jobs = 2
    var kind = ""
    var arguments = CommandLine.arguments.dropFirst()
    while let option = arguments.popFirst() {
      let value = arguments.popFirst() ?? ""
      switch (option, UInt64(value)) {
      case ("--seeds", let number?): seeds = number
      case ("--first", let number?): first = number
      case ("--jobs", let number?): jobs = Int(min(max(1, number), 64))
      case ("--only", _) where !value.isEmpty: kind = value
      case ("--seed", let number?): exit(Replay(seed: number).show() ? 0 : 1)
      case ("--cuts", _) where !value.isEmpty:
        exit(CutReport(folder: value, jobs: jobs, kind: kind).isClean() ? 0 : 1)
      default:
        print(usage)
        exit(64)
      }
    }
    exit(sweep(first..<first + seeds, of: kind, jobs: jobs) ? 0 : 1)
  }

  /// Runs the seeds on several threads; returns `true` if there is no violation.
  private static func sweep(_ seeds: Range<UInt64>, of kind: String, jobs: Int) -> Bool {
    let census = Census()
    let next = Atomic<UInt64>(seeds.lowerBound)
    let clock = ContinuousClock()
    let began = clock.now
    DispatchQueue.concurrentPerform(iterations: jobs) { _ in
      while true {
        let seed = next.add(1, ordering: .relaxed).oldValue
        guard seeds.contains(seed) else { return }
        let scenarioBegan = clock.now
        do {
          let scenario = try Scenario.swarm(seed: seed)
          guard scenario.kind.hasPrefix(kind) else { continue }
          let judgement = Judgement(of: scenario)
          census.note(seed, scenario, judgement, (clock.now - scenarioBegan) / .seconds(1))
        } catch {
          census.noteUndrawn(seed, "\(error)")
        }
      }
    }
    return census.report(seeds: seeds.count, seconds: (clock.now - began) / .seconds(1))
  }
}
