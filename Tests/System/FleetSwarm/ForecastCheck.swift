import OtaflashFleet
import OtaflashFleetForecast
import OtaflashSimulation

/// A measurement of the time that a forecast needs, and of its accuracy.
struct ForecastCheck {
  let devices: Int
  let seeds: Int

  func lines() async throws -> [String] {
    let fleet = try FleetProfile(
      parsing: "\(devices)?kinds=fast&loss=1%&slot=96K&adapters=4&revert=2%&away=1%")
    let trial = try FleetSwarm.trial(
      fleet, waves: [("canary", .percent(5)), ("rest", .rest)], withoutResponse: true, places: nil)
    let began = ContinuousClock.now
    let forecast = try await trial.forecast(seeds: seeds)
    let wall = ContinuousClock.now - began
    let runs = try (1001...1003).map { try trial.run(seed: $0).took }
    return [
      "\(devices) devices, \(seeds) seeds: forecast in \(wall)",
      "duration \(forecast.duration.median), "
        + "range \(forecast.duration.range.map { "\($0)" } ?? "none")",
      "the campaign with other seeds: "
        + runs.map { "\($0) (\($0 / forecast.duration.median))" }.joined(separator: ", "),
      "limit: \(forecast.limit.rawValue); succeed: \(forecast.successes) devices",
    ]
      + forecast.expected.map { "  \($0.ending): \($0.devices)" }
      + forecast.airUse.map { "  \($0.adapter): \(Int($0.share * 100)) % of the air" }
      + forecast.whatIf.map { "  \($0.change): \($0.duration.median), \($0.ratio) times" }
  }
}
