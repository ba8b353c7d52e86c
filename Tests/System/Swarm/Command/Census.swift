import OtaflashSwarm
import Synchronization

/// The results of many seeds, by the kind of device.
final class Census: Sendable {
  /// The counts of one kind.
  private struct Kind {
    var seeds = 0
    var outcomes: [String: Int] = [:]
    /// The deliveries to devices that support patches, or the reasons for a complete image.
    var deliveries: [String: Int] = [:]
    var violated = 0
    var hangs = 0
  }

  private struct Counts {
    var kinds: [String: Kind] = [:]
    var failures: [(seed: UInt64, words: [String])] = []
    var virtualSeconds = 0.0
    var longest = (seconds: 0.0, seed: UInt64(0))
    var digest: UInt64 = 0
  }

  private let counts = Mutex(Counts())

  /// - Parameter seconds: the elapsed wall-clock time.
  func note(_ seed: UInt64, _ scenario: Scenario, _ judgement: Judgement, _ seconds: Double) {
    counts.withLock { counts in
      var kind = counts.kinds[scenario.kind] ?? Kind()
      kind.seeds += 1
      kind.outcomes[judgement.ending?.outcomeName ?? "no ending", default: 0] += 1
      if let delivery = judgement.ending?.deliveryName {
        kind.deliveries[delivery, default: 0] += 1
      }
      if !judgement.violations.isEmpty {
        kind.violated += 1
        counts.failures.append((seed, judgement.violations.map(\.description)))
      }
      if judgement.violations.contains(where: \.isHang) { kind.hangs += 1 }
      counts.kinds[scenario.kind] = kind
      counts.digest &+= Self.hash(
        "\(seed) \(scenario.kind) \(judgement.ending?.outcomeName ?? "-") "
          + "\(judgement.ending?.took ?? .zero)")
      counts.virtualSeconds += (judgement.ending?.took ?? .zero) / .seconds(1)
      if seconds > counts.longest.seconds { counts.longest = (seconds, seed) }
    }
  }

  /// Returns the FNV-1a hash with 64 bits. The digest of a sweep is the sum of the hashes of its
  /// seeds, so the order of the seeds does not matter. Two builds with the same digest had the same
  /// outcome after the same virtual time for each seed.
  private static func hash(_ text: String) -> UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  private static func words(_ counts: [String: Int]) -> String {
    counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { "\($0.value) \($0.key)" }.joined(separator: ", ")
  }

  /// Records a seed whose scenario could not be created.
  func noteUndrawn(_ seed: UInt64, _ cause: String) {
    counts.withLock { $0.failures.append((seed, ["no scenario: \(cause)"])) }
  }

  /// Prints the counts, and a command for each failure; returns `true` if there is no failure.
  func report(seeds: Int, seconds: Double) -> Bool {
    counts.withLock { counts in
      for (name, kind) in counts.kinds.sorted(by: { $0.key < $1.key }) {
        print(
          "\(name): \(kind.seeds) seeds, \(kind.violated) with violations, \(kind.hangs) never "
            + "ended\n  \(Self.words(kind.outcomes))")
        if !kind.deliveries.isEmpty { print("  sent: \(Self.words(kind.deliveries))") }
      }
      let failures = counts.failures.sorted { $0.seed < $1.seed }
      for failure in failures {
        print("seed \(failure.seed): \(failure.words.joined(separator: "; "))")
        print("  replay: otaflash-swarm --seed \(failure.seed)")
      }
      print(
        "\(seeds) seeds in \(Int(seconds.rounded())) s (\(Int(counts.virtualSeconds)) s of virtual "
          + "time; longest: seed \(counts.longest.seed), "
          + "\(Int(counts.longest.seconds * 1000)) ms): \(failures.count) with violations; "
          + "digest \(String(counts.digest, radix: 16))")
      return failures.isEmpty
    }
  }
}
