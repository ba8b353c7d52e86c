/// Determines the best number of concurrent transfers on an adapter from the throughput. The number
/// is raised while the total rate grows, and lowered when the rate falls or links are lost.
///
/// The caller adds only samples of equal length in which as many links transferred as the limit
/// permits; other samples contain no information about the limit.
package struct ParallelismLearner: Hashable, Sendable {
  private enum Phase: Hashable {
    case climbing(Climb)
    /// The best limit is known; after `samplesLeft` samples a higher limit is tried again.
    case settled(samplesLeft: Int)
  }

  private struct Climb: Hashable {
    /// The last limit that increased the rate; `nil` = the climb is at its first limit.
    var from: Int?
    /// The lowest limit that is known not to increase the rate, or a limit above the maximum.
    var ceiling: Int
    /// The difference between `from` and the present limit.
    var step: Int
    /// Whether the climb continues after one limit without gain: links that share a radio evenly
    /// are faster than a few links with uneven shares.
    var mayLeap = false
    /// The limit that was skipped.
    var leapt: Int?
    /// The number of samples that may still show a gain.
    var samplesLeft = ParallelismLearner.samplesToCompare
  }

  /// The default start, which all adapters support.
  package static let usualStart = 3

  /// The minimum gain from an additional link, as a share of the mean rate per link; a smaller gain
  /// is noise. While a link connects, or its device restarts or erases flash, the transfers of
  /// other links use the air. Therefore, more links may increase the rate even if the transfers of
  /// fewer links fill the air.
  private static let worthwhile = 0.1
  private static let samplesToCompare = 2
  private static let samplesSettled = 20
  /// The weight of a new sample in the running mean of the rate at the settled limit.
  private static let weight = 0.5

  package private(set) var limit: Int
  private let maximum: Int
  private var phase: Phase
  /// The measured rate in bytes per second at each limit.
  private var rates: [Int: Double] = [:]

  /// - Parameters:
  ///   - start: the first limit, 1 or more.
  ///   - maximum: the highest limit to try.
  package init(start: Int = ParallelismLearner.usualStart, maximum: Int) {
    precondition(start >= 1 && maximum >= 1)
    limit = min(start, maximum)
    self.maximum = maximum
    phase = .climbing(Climb(from: nil, ceiling: maximum + 1, step: 1, mayLeap: true))
  }

  /// Adds a sample, and adjusts the limit.
  ///
  /// - Parameters:
  ///   - rate: bytes per second of all links together, in the sample.
  ///   - losses: links that were lost in the sample.
  package mutating func sampled(rate: Double, losses: Int) {
    guard losses == 0 else { return settle(at: max(limit - 1, 1)) }
    switch phase {
    case .climbing(let climb):
      // The best sample counts, because new links must first connect.
      rates[limit] = max(rates[limit] ?? 0, rate)
      follow(climb)
    case .settled(let left):
      rates[limit] = rates[limit].map { $0 + (rate - $0) * Self.weight } ?? rate
      if left > 0 {
        phase = .settled(samplesLeft: left - 1)
      } else {
        // The rates of other limits may be outdated.
        advance(Climb(from: nil, ceiling: maximum + 1, step: 1), by: 1)
      }
    }
  }

  private mutating func follow(_ climb: Climb) {
    guard let former = climb.from, !isWorthwhile(comparedWith: former) else {
      // The limit grows by up to half, because a run of few devices would end before a slower
      // climb.
      return advance(climb, by: min(2 * climb.step, (limit + 1) / 2))
    }
    if climb.samplesLeft > 1 {
      var climb = climb
      climb.samplesLeft -= 1
      phase = .climbing(climb)
      return
    }
    let leap = limit + (limit + 1) / 2
    if climb.mayLeap, climb.leapt == nil, leap < climb.ceiling {
      var climb = climb
      (climb.leapt, climb.step) = (limit, leap - former)
      climb.samplesLeft = Self.samplesToCompare
      return go(to: leap, climb)
    }
    let failed = climb.leapt ?? limit
    limit = former
    advance(Climb(from: nil, ceiling: failed, step: 1), by: (failed - former) / 2)
  }

  /// Continues with a higher limit, or settles if all remaining limits are known.
  private mutating func advance(_ climb: Climb, by step: Int) {
    let next = min(limit + max(step, 1), climb.ceiling - 1)
    guard next > limit else { return settle(at: limit) }
    go(
      to: next,
      Climb(
        from: limit, ceiling: climb.ceiling, step: next - limit, mayLeap: climb.mayLeap))
  }

  private mutating func go(to next: Int, _ climb: Climb) {
    phase = .climbing(climb)
    limit = next
    rates[limit] = nil
  }

  private func isWorthwhile(comparedWith former: Int) -> Bool {
    guard let before = rates[former], let now = rates[limit] else { return true }
    let links = Double(limit - former) / Double(former)
    return now >= before * (1 + Self.worthwhile * links)
  }

  private mutating func settle(at best: Int) {
    limit = best
    phase = .settled(samplesLeft: Self.samplesSettled)
  }
}
