import OtaflashATT
import Synchronization

/// The times from Write Request to Write Response, in microseconds.
package final class RoundTrips: Sendable {
  private struct Times {
    var values: [Int] = []
    var areSorted = true

    /// Sorts the values in ascending order, and returns them.
    mutating func sorted() -> [Int] {
      if !areSorted { values.sort() }
      areSorted = true
      return values
    }
  }

  private let times = Mutex(Times())

  package func record(_ time: Duration) {
    let (seconds, attoseconds) = time.components
    add([Int(max(0, seconds * 1_000_000 + attoseconds / 1_000_000_000_000))])
  }

  package func merge(_ other: RoundTrips) { add(other.times.withLock { $0.values }) }

  private func add(_ microseconds: [Int]) {
    times.withLock { times in
      times.values += microseconds
      times.areSorted = false
    }
  }

  package var count: Int { times.withLock { $0.values.count } }

  /// Returns the time in microseconds that `percent` of the round trips did not exceed (nearest
  /// rank); 0 if no round trip was recorded.
  package func percentile(_ percent: Double) -> Int {
    times.withLock { times in
      let sorted = times.sorted()
      let rank = Int((percent / 100 * Double(sorted.count)).rounded(.up))
      return sorted.isEmpty ? 0 : sorted[max(0, min(sorted.count, rank) - 1)]
    }
  }

  package var maximum: Int { times.withLock { $0.values.max() ?? 0 } }

  /// Returns the number of round trips of at least `range.lowerBound` and less than
  /// `range.upperBound` microseconds.
  package func count(in range: Range<Int>) -> Int {
    times.withLock { $0.values.count(where: range.contains) }
  }
}
