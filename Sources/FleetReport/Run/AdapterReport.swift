import OtaflashFleet

/// What an adapter did. Events name adapters as their machine does: those of two machines that have
/// one name are one here.
package struct AdapterReport: Hashable, Sendable {
  /// An attempt on it, from its placing to its end.
  package struct Stretch: Hashable, Sendable {
    package let from: WallClockTime
    /// Of an attempt that goes on, the report's last moment.
    package let until: WallClockTime
    /// By its place in the report.
    package let device: Int
    package let attempt: AttemptRecord
  }

  package let name: String
  /// By their beginning.
  package let stretches: [Stretch]
  /// Times in which it had something to do, put together, in their order.
  package let busy: [Range<WallClockTime>]
  /// The most attempts at a time.
  package let mostAtOnce: Int
  package let succeeded: Int
  package let failed: Int
  /// Of updates that succeeded.
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
    // An end at a moment comes before a beginning.
    let changes = stretches.flatMap { [($0.from, 1), ($0.until, -1)] }.sorted { $0 < $1 }
    var (now, most) = (0, 0)
    for (_, change) in changes {
      now += change
      most = max(most, now)
    }
    return most
  }
}
