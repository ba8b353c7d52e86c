import OtaflashBlueZ
import OtaflashSimulation
import OtaflashUpdate

extension Bench {
  /// The profile of a `sim:` device.
  var simulated: SimulationProfile? {
    guard case .simulated(let profile) = target.device.kind else { return nil }
    return profile
  }

  func measure(
    _ sweep: BenchmarkSweep, in session: Session
  ) async throws(CommandFault) -> [BenchmarkRow] {
    guard let simulated else { return try await measureReal(sweep, in: session) }
    let cases = try links(of: simulated).flatMap { profile in settings.map { (profile, $0) } }
    announce(cases.count, in: session)
    var rows: [BenchmarkRow] = []
    for (profile, setting) in cases {
      guard !Task.isCancelled else { throw .stopped }
      if realTime {
        let device = try ResolvedDevice.transient(
          target.device.text, profile, capture: sweep.capture)
        rows.append(try await sweep.measure(setting, at: device, profile: profile))
      } else {
        rows.append(try sweep.measure(setting, inVirtualTime: profile))
      }
      tell(rows[rows.count - 1], in: session)
    }
    return rows
  }

  /// The kernel keeps a link for 2 s after its last user (HCI_DISCONN_TIMEOUT).
  private static let linkLinger = Duration.milliseconds(2500)

  /// A device that is no simulation has the link that it has, or what it grants of what is asked.
  private func measureReal(
    _ sweep: BenchmarkSweep, in session: Session
  ) async throws(CommandFault) -> [BenchmarkRow] {
    announce(settings.count * tunings.count, in: session)
    var rows: [BenchmarkRow] = []
    for (index, tuning) in tunings.enumerated() {
      // The kernel would hand the former link, with its parameters, to the next one.
      if index > 0, !(await Pause.sleep(for: Self.linkLinger)) { throw .stopped }
      let destination = try await ResolvedDevice.resolve(
        target.device, in: session, tuning: tuning, isTuningExplicit: phy != nil || interval != nil)
      let lock = try destination.lock()
      for setting in settings {
        guard !Task.isCancelled else { throw .stopped }
        rows.append(try await sweep.measure(setting, at: destination, profile: nil))
        tell(rows[rows.count - 1], in: session)
      }
      lock.release()
    }
    return rows
  }

  /// What is asked of the links of a device on the air, in turn.
  var tunings: [LinkTuning] {
    let intervals = interval?.elements.map { $0.duration...$0.duration }
    return (phy?.elements ?? [LinkTuning.flashing.phy].compactMap(\.self)).flatMap { phy in
      (intervals ?? [LinkTuning.flashing.interval].compactMap(\.self)).map { interval in
        var tuning = LinkTuning.flashing
        tuning.phy = phy
        tuning.interval = interval
        // Longer than twice the interval (Core 5.4, Vol 6, Part B, 4.5.2).
        tuning.supervisionTimeout = max(tuning.supervisionTimeout, interval.upperBound * 4)
        return tuning
      }
    }
  }

  private func announce(_ count: Int, in session: Session) {
    session.console.note("measuring \(count) combinations, \(self.repeat.value) times each")
  }

  private func tell(_ row: BenchmarkRow, in session: Session) {
    session.console.event("measurement", row.members(device: target.device.text))
  }

  /// The links that the lists make of one simulated device.
  private func links(
    of device: SimulationProfile
  ) throws(CommandFault) -> [SimulationProfile] {
    var profiles: [SimulationProfile] = []
    for phy in phy?.elements ?? [device.radio.phy] {
      for interval in interval?.elements ?? [device.radio.interval] {
        var profile = device
        profile.radio.phy = phy
        profile.radio.interval = interval
        do throws(RadioModelFault) { try profile.radio.validate() } catch {
          throw .simulation("no such radio can be built: \(error)")
        }
        profiles.append(profile)
      }
    }
    return profiles
  }
}
