import OtaflashFleet
import OtaflashSimulation

/// The figures of one simulated run.
struct SimulationFigures: Hashable, Sendable {
  enum End: Hashable, Sendable {
    case complete
    case stopped
    case paused
  }

  let took: Duration
  let end: End
  /// For each adapter, the share of the time with attempts in which its radio carried data.
  let airUse: [String: Double]
  /// The number of devices by outcome. Devices without a final outcome are not included.
  let endings: [ForecastEnding: Int]
  /// The time without attempts, excluding soak times.
  let idle: Duration
  let soak: Duration
  /// The share of the time of all attempts in which the boards' flash was busy.
  let flashUse: Double

  /// The savings from patches and compression.
  let savings: FleetForecast.Savings

  init(_ outcome: CampaignSimulation.Outcome, of campaign: Campaign) {
    let run = outcome.run
    took = outcome.took
    end = End(run.control)
    let works = run.devices.flatMap(\.records).compactMap { work in
      work.ended.map { (work.began, $0) }
    }
    let active = Self.union(of: works)
    soak = zip(run.waves, campaign.waves).filter { $0.0.times.judged != nil }
      .reduce(.zero) { $0 + $1.1.soak }
    idle = max(took - active - soak, .zero)
    airUse = outcome.airTime.mapValues { active > .zero ? $0 / active : 0 }
    endings = run.devices.compactMap(\.ending).reduce(into: [:]) {
      $0[ForecastEnding($1), default: 0] += 1
    }
    savings = run.devices.compactMap(\.figures).reduce(into: FleetForecast.Savings()) {
      guard let made = $1.made else { return }
      $0.devices += 1
      $0.sent += Double($1.bytes)
      $0.made += Double(made)
    }
    let worked = works.reduce(Duration.zero) { $0 + $1.0.duration(to: $1.1) }
    let flash = outcome.truth.values.reduce(Duration.zero) { $0 + $1.flashTime }
    flashUse = worked > .zero ? flash / worked : 0
  }

  /// Returns the time that is covered by at least one of the spans.
  private static func union(of spans: [(WallClockTime, WallClockTime)]) -> Duration {
    var (total, end) = (Duration.zero, WallClockTime(milliseconds: .min))
    for span in spans.sorted(by: { $0.0 < $1.0 }) where span.1 > end {
      total += max(span.0, end).duration(to: span.1)
      end = span.1
    }
    return total
  }
}

extension SimulationFigures.End {
  fileprivate init(_ control: FleetRun.Control) {
    switch control {
    case .ended(.complete): self = .complete
    case .ended(.stopped), .ended(.cancelled), .cancelling: self = .stopped
    case .paused, .running: self = .paused
    }
  }
}

/// The outcome of a device in a forecast.
package enum ForecastEnding: Hashable, Sendable {
  case updated
  /// The device already ran the image.
  case current
  /// The device failed, with a code such as `reverted`.
  case failed(FailureKind, code: String)
  /// No advertisement of the device was received.
  case absent
  /// A hook or a condition of the campaign excluded the device.
  case skipped

  fileprivate init(_ ending: DeviceEnding) {
    switch ending {
    case .updated: self = .updated
    case .current: self = .current
    case .failed(let failure), .quarantined(let failure):
      self = .failed(failure.kind, code: failure.code)
    case .absent: self = .absent
    case .skipped: self = .skipped
    }
  }

  package var isSuccess: Bool {
    switch self {
    case .updated, .current: true
    case .failed, .absent, .skipped: false
    }
  }
}
