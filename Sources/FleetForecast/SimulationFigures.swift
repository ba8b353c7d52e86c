import OtaflashFleet
import OtaflashSimulation

/// What one run of a campaign says about it.
struct SimulationFigures: Hashable, Sendable {
  enum End: Hashable, Sendable {
    case complete
    case stopped
    case paused
  }

  let took: Duration
  let end: End
  /// By adapter: the share of the time in which anything ran that its radio carried data.
  let airUse: [String: Double]
  /// Devices by how they ended; those that nobody began are not there.
  let endings: [ForecastEnding: Int]
  /// The time in which no device was worked on, waves' soak times aside.
  let idle: Duration
  let soak: Duration
  /// Of the time of all attempts, the share in which the boards' flash was busy.
  let flashUse: Double

  /// What was sent instead of images.
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

  /// The time that at least one of the spans covers.
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

/// How a device ends, as far as a forecast tells it apart.
package enum ForecastEnding: Hashable, Sendable {
  case updated
  /// It ran the image already.
  case current
  /// With the failure's code, such as `reverted`.
  case failed(FailureKind, code: String)
  /// Nobody has ever heard it.
  case absent
  /// A hook left it out.
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
