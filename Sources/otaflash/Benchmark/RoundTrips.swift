import Histogram
import OtaflashATT
import Synchronization

/// The times from Write Request to Write Response, in microseconds.
final class RoundTrips: Sendable {
  /// ATT gives a transaction up after 30 s (Core 5.4, Vol 3, Part F, 3.3.3).
  private static let microsecondsMaximum: UInt64 = 30_000_000

  private let histogram = Mutex(
    Histogram<UInt32>(
      highestTrackableValue: RoundTrips.microsecondsMaximum, numberOfSignificantValueDigits: .three)
  )

  func record(_ time: Duration) {
    let (seconds, attoseconds) = time.components
    let microseconds = UInt64(max(0, seconds * 1_000_000 + attoseconds / 1_000_000_000_000))
    histogram.withLock { _ = $0.record(min(microseconds, Self.microsecondsMaximum)) }
  }

  func merge(_ other: RoundTrips) {
    let copy = other.histogram.withLock { $0 }
    histogram.withLock { $0.add(copy) }
  }

  var count: Int { histogram.withLock { Int($0.totalCount) } }

  /// Microseconds that a share of the round trips took at most.
  func percentile(_ percent: Double) -> Int {
    histogram.withLock { Int($0.valueAtPercentile(percent)) }
  }

  var maximum: Int { histogram.withLock { Int($0.max) } }

  /// Round trips of at least `range.lowerBound` and less than `range.upperBound` microseconds.
  func count(in range: Range<Int>) -> Int {
    guard !range.isEmpty else { return 0 }
    return histogram.withLock { histogram in
      histogram.recordedValues().reduce(0) { sum, entry in
        range.contains(Int(entry.value)) ? sum + Int(entry.count) : sum
      }
    }
  }
}
