import OtaflashFleet

extension RunWait {
  /// Returns the reason why no attempt starts, and the time until one can start, as a clause.
  ///
  /// - Parameters:
  ///   - run: the run that waits.
  ///   - now: the current time, for the remaining time.
  package func words(in run: FleetRun, at now: WallClockTime) -> String {
    switch reason {
    case .window(let site, let zone):
      let name = site.map { "the window of site \($0)" } ?? "the window"
      guard let until else { return "\(name) does not open again (\(count))" }
      return "\(name) opens \(Self.moment(until, zone, now)) (\(count))"
    case .soak(let wave):
      let end = until.map { " until " + Self.moment($0, .utc, now) } ?? ""
      return "wave \(run.waves[wave].name) soaks\(end)"
    case .retry:
      let start = until.map { " starts " + Self.moment($0, .utc, now) } ?? " follows"
      return "the next attempt\(start) (\(count))"
    case .approval(let wave): return "wave \(run.waves[wave].name) needs an operator's approval"
    case .paused: return "an operator must resume the run"
    case .noAdapter: return "no adapter is present (\(count))"
    case .hook(let point): return "the hook \(point.rawValue) is running"
    case .noFreePlace: return "no adapter is free (\(count))"
    }
  }

  private var count: String {
    Figures.counted(devices, "device") + (devices == 1 ? " waits" : " wait")
  }

  /// Returns a time such as `02:00 Europe/Berlin, in 6 h 13 min`. The date is included if it is
  /// another day in the time zone; seconds are included in the last hour.
  private static func moment(
    _ time: WallClockTime, _ zone: ZoneOffsets, _ now: WallClockTime
  ) -> String {
    let (then, today) = (CalendarTime(time, in: zone), CalendarTime(now, in: zone))
    let left = max(time.milliseconds - now.milliseconds, 0)
    let clock = left < 3_600_000 ? then.clock : then.minutes
    let date = then.date == today.date ? "" : then.dayWords + ", "
    return "\(date)\(clock) \(zone.label(at: time)), in \(Figures.duration(left))"
  }
}

extension RunWait.Reason {
  /// The identifier for programs.
  package var name: String {
    switch self {
    case .window: "window"
    case .soak: "soak"
    case .retry: "retry"
    case .approval: "approval"
    case .paused: "paused"
    case .noAdapter: "no-adapter"
    case .hook: "hook"
    case .noFreePlace: "no-free-place"
    }
  }
}
