/// How many transfers side by side an adapter is worth, learned from what came of it: raised while
/// the sum of the rates grows, lowered when it falls or links are lost.
///
/// Fed with samples of equal length in which as many links transferred as the limit permits; other
/// samples say nothing about the limit and are not to be fed.
package struct ParallelismLearner: Hashable, Sendable {
  private enum Phase: Hashable {
    case climbing(Climb)
    /// The best is known; after so many samples it is looked whether more is worth it by now.
    case settled(samplesLeft: Int)
  }

  private struct Climb: Hashable {
    /// The limit that was worth it; at the first one there is none.
    var from: Int?
    /// Known not to be worth it, or beyond what is permitted.
    var ceiling: Int
    /// Beyond `from`.
    var step: Int
    /// One limit that is not worth it does not end the climb: links that share a radio evenly are
    /// worth more than a few of which some have larger parts.
    var mayLeap = false
    /// The one that was leapt over.
    var leapt: Int?
    /// So many samples may still show that the limit is worth it.
    var samplesLeft = ParallelismLearner.samplesToCompare
  }

  /// As many as adapters of any make can have.
  package static let usualStart = 3

  /// What a further link must bring, of what a link brings on the average: less is noise, and costs
  /// a place that a device could be lost at. Connecting, restarts and flash are hidden behind other
  /// transfers, so that more links than fill the air are still worth something.
  private static let worthwhile = 0.1
  private static let samplesToCompare = 2
  private static let samplesSettled = 20
  /// Of a new sample, in the mean for a limit that is settled.
  private static let weight = 0.5

  package private(set) var limit: Int
  private let maximum: Int
  private var phase: Phase
  /// Bytes per second by limit.
  private var rates: [Int: Double] = [:]

  /// - Parameters:
  ///   - start: the first limit, 1 or more.
  ///   - maximum: no more than that is ever tried.
  package init(start: Int = ParallelismLearner.usualStart, maximum: Int) {
    precondition(start >= 1 && maximum >= 1)
    limit = min(start, maximum)
    self.maximum = maximum
    phase = .climbing(Climb(from: nil, ceiling: maximum + 1, step: 1, mayLeap: true))
  }

  /// - Parameters:
  ///   - rate: bytes per second of all links together, in the sample.
  ///   - losses: links that were lost in it.
  package mutating func sampled(rate: Double, losses: Int) {
    guard losses == 0 else { return settle(at: max(limit - 1, 1)) }
    switch phase {
    case .climbing(let climb):
      // New links connect first: the better of the samples tells what they bring.
      rates[limit] = max(rates[limit] ?? 0, rate)
      follow(climb)
    case .settled(let left):
      rates[limit] = rates[limit].map { $0 + (rate - $0) * Self.weight } ?? rate
      if left > 0 {
        phase = .settled(samplesLeft: left - 1)
      } else {
        // What is known of others may no longer hold.
        advance(Climb(from: nil, ceiling: maximum + 1, step: 1), by: 1)
      }
    }
  }

  private mutating func follow(_ climb: Climb) {
    guard let former = climb.from, !isWorthwhile(comparedWith: former) else {
      // By half at most: a run of few devices is over before a slower climb is.
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

  /// To a higher limit, or nowhere when all that are left are known.
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
