/// How many transfers side by side an adapter is worth, learned from what came of it: raised while
/// the sum of the rates grows, lowered when it falls or links are lost.
///
/// Fed with samples of equal length in which as many links transferred as the limit permits; other
/// samples say nothing about the limit and are not to be fed.
package struct ParallelismLearner: Hashable, Sendable {
  private enum Phase: Hashable {
    /// So many samples are still needed at this limit, which is then compared with the one before
    /// it; at the first limit there is none.
    case climbing(from: Int?, samplesLeft: Int)
    /// The best is known; after so many samples it is looked whether more is worth it by now.
    case settled(samplesLeft: Int)
  }

  /// What a further link must bring, of what a link brings on the average: less is noise, and costs
  /// a place that a device could be lost at.
  private static let worthwhile = 0.2
  private static let samplesToCompare = 2
  private static let samplesSettled = 20
  /// Of a new sample, in the mean for its limit.
  private static let weight = 0.5

  package private(set) var limit: Int
  private let maximum: Int
  private var phase = Phase.climbing(from: nil, samplesLeft: ParallelismLearner.samplesToCompare)
  /// Octets per second by limit, smoothed.
  private var rates: [Int: Double] = [:]

  /// - Parameters:
  ///   - start: the first limit, 1 or more.
  ///   - maximum: no more than that is ever tried.
  package init(start: Int = 1, maximum: Int) {
    precondition(start >= 1 && start <= maximum)
    limit = start
    self.maximum = maximum
  }

  /// - Parameters:
  ///   - rate: octets per second of all links together, in the sample.
  ///   - losses: links that were lost in it.
  package mutating func sampled(rate: Double, losses: Int) {
    guard losses == 0 else { return settle(at: max(limit - 1, 1)) }
    rates[limit] = rates[limit].map { $0 + (rate - $0) * Self.weight } ?? rate
    switch phase {
    case .climbing(let former, let left) where left > 1:
      phase = .climbing(from: former, samplesLeft: left - 1)
    case .climbing(let former?, _) where !isWorthwhile(comparedWith: former): settle(at: former)
    case .climbing: climb()
    case .settled(let left) where left > 0: phase = .settled(samplesLeft: left - 1)
    case .settled: climb()
    }
  }

  private func isWorthwhile(comparedWith former: Int) -> Bool {
    guard let before = rates[former], let now = rates[limit] else { return true }
    let links = Double(limit - former) / Double(former)
    return now >= before * (1 + Self.worthwhile * links)
  }

  /// By a quarter: among many links one more is lost in the noise.
  private mutating func climb() {
    guard limit < maximum else { return settle(at: maximum) }
    phase = .climbing(from: limit, samplesLeft: Self.samplesToCompare)
    limit = min(limit + max(limit / 4, 1), maximum)
    // What was known of it may no longer hold.
    rates[limit] = nil
  }

  private mutating func settle(at best: Int) {
    limit = best
    phase = .settled(samplesLeft: Self.samplesSettled)
  }
}
