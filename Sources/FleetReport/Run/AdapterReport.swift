import OtaflashFleet

/// The work of one adapter. Events contain adapter names as the machine uses them, so adapters of
/// two machines with the same name share one report.
package struct AdapterReport: Hashable, Sendable {
  /// An attempt on the adapter, from its placement to its end.
  package struct Stretch: Hashable, Sendable {
    package let from: WallClockTime
    /// The end of the attempt; for an attempt in progress, the time of the last event.
    package let until: WallClockTime
    /// The index of the device in the report.
    package let device: Int
    package let attempt: AttemptRecord
  }

  package let name: String
  /// The attempts on the adapter, sorted by start.
  package let stretches: [Stretch]
  /// Times with at least one attempt, merged and sorted.
  package let busy: [Range<WallClockTime>]
  /// The maximum number of concurrent attempts.
  package let mostAtOnce: Int
  package let succeeded: Int
  package let failed: Int
  /// The bytes of successful updates.
  package let bytes: Int

  package var busyMilliseconds: Int64 {
    busy.reduce(0) { $0 + $1.upperBound.milliseconds - $1.lowerBound.milliseconds }
  }

  init(name: String, stretches: [Stretch]) {
    self.name = name
    self.stretches = stretches.sorted { ($0.from, $0.device) < ($1.from, $1.device) }
    busy = Self.union(self.stretches)
    mostAtOnce = Self.most(of: self.stretches)
    var (succeeded, failed, bytes) = (0, 0, 0)
    for stretch in stretches {
      switch stretch.attempt.ending {
      case .updated(let figures):
        succeeded += 1
        bytes += figures.bytes
      case .current: succeeded += 1
      case .failed: failed += 1
      case .skipped, .returned, nil: break
      }
    }
    (self.succeeded, self.failed, self.bytes) = (succeeded, failed, bytes)
  }

  private static func union(_ stretches: [Stretch]) -> [Range<WallClockTime>] {
    var busy: [Range<WallClockTime>] = []
    for stretch in stretches {
      if let last = busy.last, stretch.from <= last.upperBound {
        busy[busy.count - 1] = last.lowerBound..<max(last.upperBound, stretch.until)
      } else {
        busy.append(stretch.from..<stretch.until)
      }
    }
    return busy
  }

  private static func most(of stretches: [Stretch]) -> Int {
    // At the same moment, an end sorts before a start.
    let changes = stretches.flatMap { [($0.from, 1), ($0.until, -1)] }.sorted { $0 < $1 }
    var (now, most) = (0, 0)
    for (_, change) in changes {
      now += change
      most = max(most, now)
    }
    return most
  }
}
