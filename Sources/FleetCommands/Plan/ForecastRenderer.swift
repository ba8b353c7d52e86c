#if Fleet
import OtaflashATT
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetForecast
import OtaflashFleetHost
import OtaflashSimulation

/// Computes and prints the forecast of a campaign.
struct ForecastRenderer: Sendable {
  /// The limit below which a number of devices is printed with decimals.
  private static let whole = 1.0

  private let campaign: LoadedCampaign
  private let fleet: String?
  private let seeds: Int
  private let limit: Duration
  private let session: Session

  /// - Parameter fleet: the simulated fleet; `nil` = the campaign's own simulated fleet. If the
  ///   campaign has none, the fleet has the properties of these devices in earlier runs, or the
  ///   default properties.
  init(
    _ campaign: LoadedCampaign, _ fleet: String?, seeds: Int, limit: Duration, _ session: Session
  ) {
    self.campaign = campaign
    self.fleet = fleet
    self.seeds = seeds
    self.limit = limit
    self.session = session
  }

  func render() async throws(CommandFault) {
    let trial = try await trial()
    session.console.note(
      "simulating " + Text.counted(campaign.plan.deviceCount, "device") + ", "
        + Text.counted(seeds, "time") + " and with each change, for at most \(Text.clock(limit)) "
        + "(--forecast-time)")
    let console = session.console
    let start = ContinuousClock.now
    let limit = limit
    let forecast: FleetForecast
    do throws(ForecastFault) {
      forecast = try await trial.forecast(
        seeds: seeds, isTimeOver: { start.duration(to: .now) > limit }
      ) { progress in
        guard console.settings.progress == .bar else { return }
        let elapsed = Text.clock(start.duration(to: .now))
        console.show([
          "  \(Self.percent(progress.share))  \(progress.runsEnded) of \(progress.runs) "
            + "simulated runs, \(elapsed)"
        ])
      }
    } catch {
      if case .cancelled = error { throw .stopped }
      throw .fleet(.failed(words: "\(error)"))
    }
    console.show([])
    let countsWholeImages = trial.countsWholeImages
    console.event("fleet_forecast", Self.members(forecast, countsWholeImages))
    for line in Self.lines(forecast, countsWholeImages) { console.result(line) }
    if forecast.runsLeftOut + forecast.rowsLeftOut > 0 {
      console.note(
        "omitted by the time limit: " + Text.counted(forecast.runsLeftOut, "run") + ", "
          + Text.counted(forecast.rowsLeftOut, "what-if row")
          + "; increase --forecast-time to include them")
    }
  }

  private func trial() async throws(CommandFault) -> CampaignSimulation {
    if fleet == nil, let simulation = campaign.simulation {
      return CampaignSimulation(
        campaign.plan, on: simulation, packages: campaign.images.mapValues(\.package), start: .now)
    }
    let text =
      if let fleet { fleet } else {
        try await knownFleet() ?? "\(FleetProfile.prefix)\(campaign.plan.deviceCount)"
      }
    let profile: FleetProfile
    do throws(ProfileFault) { profile = try FleetProfile(parsing: text) } catch {
      throw .simulation("\(error)")
    }
    return CampaignSimulation(
      campaign.plan, on: profile, sizes: campaign.images.mapValues(\.package.size), start: .now)
  }

  private func knownFleet() async throws(CommandFault) -> String? {
    guard let store = try FleetFolder(of: session).look() else { return nil }
    let devices = Set(campaign.plan.waves.flatMap(\.devices).map(\.id))
    let past = try await EarlierRuns(of: devices, in: store)
    guard let fleet = past.fleet(of: devices.count) else { return nil }
    session.console.note(
      "as in " + Text.counted(past.runs, "earlier run") + " of these devices: \(fleet)")
    return fleet
  }

  // MARK: Text

  private static func lines(_ forecast: FleetForecast, _ countsWholeImages: Bool) -> [String] {
    let duration = forecast.duration
    let median = "\(Text.clock(duration.median)) (median of \(Text.counted(forecast.seeds, "run")))"
    let range = duration.range.map { range in
      "5% of the runs take less than \(Text.clock(range.lowerBound)), and 5% take more than "
        + Text.clock(range.upperBound)
    }
    let air = forecast.airUse.map { "\($0.adapter) \(percent($0.share))" }
    let expected = forecast.expected.map { "\(count($0.devices)) \($0.ending.words)" }
    var lines = [
      "forecast  \(median); "
        + (range ?? "a range needs --seeds \(FleetForecast.Spread.rangeMinimum) or more"),
      "  limited by \(forecast.limit.words)",
      "  air used: \(air.joined(separator: ", "))",
      "  expected: \(expected.joined(separator: ", "))",
    ]
    if forecast.savings.devices > 0 {
      let savings = forecast.savings
      lines.append(
        "  patches: \(count(savings.devices)) devices receive \(bytes(savings.sent)) instead of "
          + bytes(savings.made))
    }
    if countsWholeImages {
      lines.append(
        "  calculated with complete images: updates with patches are faster")
    }
    if forecast.stoppedShare > 0 {
      lines.append(
        "  \(percent(forecast.stoppedShare)) of the simulated runs stop because of failures")
    }
    if forecast.pausedShare > 0 {
      lines.append("  \(percent(forecast.pausedShare)) of the simulated runs wait for an operator")
    }
    if forecast.approvals > 0 {
      lines.append("  not including the time for \(forecast.approvals) approvals")
    }
    let rows = forecast.whatIf.map { row in
      [row.change.words, Text.clock(row.duration.median), ratio(row.ratio)]
    }
    guard !rows.isEmpty else { return lines }
    return lines + Text.table([["  WHAT IF", "TIME", ""]] + rows.map { ["  " + $0[0]] + $0[1...] })
  }

  private static func percent(_ share: Double) -> String {
    "\(Int((share * 100).rounded()))%"
  }

  private static func count(_ devices: Double) -> String {
    devices < whole ? Text.fixed(devices) : Text.grouped(Int(devices.rounded()))
  }

  private static func bytes(_ bytes: Double) -> String {
    Text.grouped(Int(bytes.rounded())) + " B"
  }

  private static func ratio(_ ratio: Double) -> String {
    let percent = Int((abs(1 - ratio) * 100).rounded())
    return percent == 0 ? "no change" : "\(percent)% " + (ratio < 1 ? "less" : "more")
  }

  // MARK: JSON

  private static func members(
    _ forecast: FleetForecast, _ countsWholeImages: Bool
  ) -> [JSONValue.Member] {
    func spread(_ spread: FleetForecast.Spread) -> JSONValue {
      .object([
        "median_ms": .integer(spread.median.inMilliseconds),
        "p5_ms": spread.range.map { .integer($0.lowerBound.inMilliseconds) },
        "p95_ms": spread.range.map { .integer($0.upperBound.inMilliseconds) },
      ])
    }
    return JSONValue.fields([
      "devices": .integer(forecast.devices), "seeds": .integer(forecast.seeds),
      "duration": spread(forecast.duration), "limit": .string(forecast.limit.rawValue),
      "air": .array(
        forecast.airUse.map {
          .object(["adapter": .string($0.adapter), "share": .number($0.share)])
        }),
      "expected": .array(
        forecast.expected.map {
          .object(["outcome": .string($0.ending.words), "devices": .number($0.devices)])
        }),
      "stopped_share": .number(forecast.stoppedShare),
      "paused_share": .number(forecast.pausedShare),
      "approvals": .integer(forecast.approvals),
      "patches": forecast.savings.devices > 0
        ? .object([
          "devices": .number(forecast.savings.devices), "octets": .number(forecast.savings.sent),
          "image": .number(forecast.savings.made),
        ]) : nil,
      "runs_left_out": .integer(forecast.runsLeftOut),
      "what_if_left_out": .integer(forecast.rowsLeftOut),
      "counts_whole_images": countsWholeImages ? .bool(true) : nil,
      "what_if": .array(
        forecast.whatIf.map { row in
          .object([
            "change": .string(row.change.words), "duration": spread(row.duration),
            "ratio": .number(row.ratio),
          ])
        }),
    ])
  }
}

extension FleetForecast.Limit {
  fileprivate var words: String {
    switch self {
    case .air: "the air: the adapters carry data most of the time"
    case .links: "the links: each waits for its connection events and responses"
    case .deviceFlash: "the devices' flash"
    case .soak: "the waves' soak times"
    case .window: "the transfer window"
    case .retries: "retries of devices, and the waits between them"
    }
  }
}

extension ForecastEnding {
  fileprivate var words: String {
    switch self {
    case .updated: "updated"
    case .current: "already current"
    case .failed(_, let code): "failed (\(code))"
    case .absent: "not found"
    case .skipped: "skipped"
    }
  }
}

extension ForecastChange {
  fileprivate var words: String {
    switch self {
    case .adapters(let count): count == 1 ? "1 adapter" : "\(count) adapters"
    case .withResponse: "writes with response"
    case .withoutResponse: "writes without response"
    case .phy(let phy): "PHY \(phy.rawValue)"
    case .largerPackets(let mtu), .smallerPackets(let mtu): "ATT_MTU \(mtu)"
    case .interval(let interval):
      "interval \(Text.decimal(interval.duration / .milliseconds(1))) ms"
    case .loss(let share): "\(Text.fixed(share * 100))% of the packets lost"
    case .oneAtATime: "one device at a time on an adapter"
    }
  }
}
#endif
