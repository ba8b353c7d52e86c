import OtaflashATT
import OtaflashFleet
import OtaflashSimulation

/// The forecast of a campaign: the combined figures of simulated runs with different seeds.
package struct FleetForecast: Hashable, Sendable {
  /// A figure over all runs.
  package struct Spread: Hashable, Sendable {
    package let median: Duration
    /// The range of values: one run in twenty is below its start, and one run in twenty is above
    /// its end. Another value exceeds the k-th of n values with probability 1 − k / (n + 1). `nil`
    /// = there are too few runs, so that even the longest run would be exceeded more often.
    package let range: ClosedRange<Duration>?

    /// The minimum number of runs for a range. With 20 runs, another run is longer than the longest
    /// run with probability 1/21, which is below 1/20.
    package static let rangeMinimum = 20

    init(_ values: [Duration]) {
      let sorted = values.sorted()
      precondition(!sorted.isEmpty, "a spread requires a value")
      median = sorted[(sorted.count - 1) / 2]
      let outside = (sorted.count + 1) / Self.rangeMinimum
      range =
        sorted.count < Self.rangeMinimum
        ? nil : sorted[outside - 1]...sorted[sorted.count - outside]
    }
  }

  package struct AirUse: Hashable, Sendable {
    package let adapter: String
    /// The time for which the radio carried data, as a share of the time with attempts, 0…1; the
    /// mean over all runs.
    package let share: Double
  }

  package struct Expected: Hashable, Sendable {
    package let ending: ForecastEnding
    /// The number of devices with this outcome; the mean over all runs.
    package let devices: Double
  }

  /// The bottleneck of the campaign.
  package enum Limit: String, Hashable, Sendable, CaseIterable {
    /// The radios carry data most of the time.
    case air
    /// Each link waits for its connection events and responses, and the number of links is limited.
    case links
    /// The devices write to their flash.
    case deviceFlash = "device-flash"
    /// The waves' soak times.
    case soak
    /// The windows in which transfers may start.
    case window
    /// Absent devices, retries, and the waits between them.
    case retries
  }

  /// The forecast of the campaign with one change.
  package struct WhatIf: Hashable, Sendable {
    package let change: ForecastChange
    package let duration: Spread
    /// The total time of the changed campaign divided by the total time of the unchanged campaign,
    /// with the same seeds; below 1 is faster.
    package let ratio: Double
  }

  /// The savings from patches and compression, as the mean over all runs.
  package struct Savings: Hashable, Sendable {
    package var devices = 0.0
    /// The bytes of patches or compressed images.
    package var sent = 0.0
    /// The bytes of the images that devices created from patches or compressed images.
    package var made = 0.0
  }

  package let devices: Int
  package let seeds: Int
  package let duration: Spread
  /// The air use of each adapter, in the order of the adapters.
  package let airUse: [AirUse]
  /// The expected outcomes; the most frequent one is first.
  package let expected: [Expected]
  /// The shares of the runs that stopped and that paused, 0…1.
  package let stoppedShare: Double
  package let pausedShare: Double
  package let limit: Limit
  package let savings: Savings
  /// The number of waves that will wait for approval. No figure includes the time of these waits.
  package let approvals: Int
  /// The number of seeds of each what-if row.
  package let whatIfSeeds: Int
  package let whatIf: [WhatIf]
  /// The number of runs and what-if rows that were omitted because of the time limit.
  package let runsLeftOut: Int
  package let rowsLeftOut: Int

  /// The expected number of successful devices.
  package var successes: Double {
    expected.filter(\.ending.isSuccess).reduce(0) { $0 + $1.devices }
  }
}

// MARK: - Combining runs

extension FleetForecast {
  init(
    of trial: CampaignSimulation, _ runs: [SimulationFigures],
    whatIf: [(change: ForecastChange, runs: [SimulationFigures])],
    left: (runs: Int, rows: Int) = (0, 0)
  ) {
    (runsLeftOut, rowsLeftOut) = left
    devices = trial.plan.deviceCount
    seeds = runs.count
    duration = Spread(runs.map(\.took))
    airUse = Self.meanAirUse(of: runs)
    expected = Self.meanEndings(of: runs)
    stoppedShare = Double(runs.count { $0.end == .stopped }) / Double(runs.count)
    pausedShare = Double(runs.count { $0.end == .paused }) / Double(runs.count)
    let hasWindow = trial.campaign.window != nil || !trial.campaign.siteWindows.isEmpty
    limit = Self.limit(of: runs, hasWindow: hasWindow)
    savings = Self.meanSavings(of: runs)
    // The last wave never waits for an approval.
    approvals = trial.plan.campaign.waves.dropLast().count(where: \.needsApproval)
    whatIfSeeds = whatIf.first?.runs.count ?? 0
    let before = runs.prefix(whatIfSeeds).reduce(Duration.zero) { $0 + $1.took }
    self.whatIf = whatIf.map { change, runs in
      WhatIf(
        change: change, duration: Spread(runs.map(\.took)),
        ratio: runs.reduce(.zero) { $0 + $1.took } / before)
    }
  }

  private static func meanSavings(of runs: [SimulationFigures]) -> Savings {
    let count = Double(runs.count)
    return runs.reduce(into: Savings()) {
      $0.devices += $1.savings.devices / count
      $0.sent += $1.savings.sent / count
      $0.made += $1.savings.made / count
    }
  }

  private static func meanAirUse(of runs: [SimulationFigures]) -> [AirUse] {
    let adapters = Set(runs.flatMap(\.airUse.keys))
      .sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    return adapters.map { adapter in
      let sum = runs.reduce(0) { $0 + ($1.airUse[adapter] ?? 0) }
      return AirUse(adapter: adapter, share: sum / Double(runs.count))
    }
  }

  private static func meanEndings(of runs: [SimulationFigures]) -> [Expected] {
    var sums: [ForecastEnding: Int] = [:]
    for run in runs { sums.merge(run.endings, uniquingKeysWith: +) }
    return sums.map { Expected(ending: $0, devices: Double($1) / Double(runs.count)) }
      .sorted { ($1.devices, "\($0.ending)") < ($0.devices, "\($1.ending)") }
  }

  /// The share of air time above which the air counts as the bottleneck; the remaining time is lost
  /// at the ends of connection events.
  private static let airIsFull = 0.5
  private static let half = 0.5

  private static func limit(of runs: [SimulationFigures], hasWindow: Bool) -> Limit {
    let took = runs.reduce(Duration.zero) { $0 + $1.took }
    let soak = runs.reduce(Duration.zero) { $0 + $1.soak }
    let idle = runs.reduce(Duration.zero) { $0 + $1.idle }
    if soak + idle > took * half {
      if soak > idle { return .soak }
      return hasWindow ? .window : .retries
    }
    let air = meanAirUse(of: runs).map(\.share)
    if air.reduce(0, +) > airIsFull * Double(air.count) { return .air }
    let flash = runs.reduce(0) { $0 + $1.flashUse } / Double(runs.count)
    return flash > half ? .deviceFlash : .links
  }
}
