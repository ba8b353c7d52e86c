import OtaflashBench
import OtaflashBlueZ
import OtaflashConsole
import OtaflashDevices
import OtaflashSimulation
import OtaflashUpdate

extension Bench {
  /// A measurement and its device.
  struct MeasuredLink {
    let row: BenchmarkRow
    /// The device; `nil` unless it was simulated in virtual time.
    let profile: SimulationProfile?
  }

  /// The ATT_MTU that `flash` requests.
  private static let usualMTU = 512

  /// The profile of a `sim:` device; `nil` for other devices.
  var simulated: SimulationProfile? {
    guard case .simulated(let profile) = target.device.kind else { return nil }
    return profile
  }

  func measure(
    _ sweep: BenchmarkSweep, in session: Session
  ) async throws(CommandFault) -> [MeasuredLink] {
    guard let simulated else { return try await measureReal(sweep, in: session) }
    let profiles = try links(of: simulated)
    announce(profiles.count, in: session)
    var found: [MeasuredLink] = []
    for profile in profiles {
      if realTime {
        found += try await measured(of: nil, in: session) { (entry) async throws(CommandFault) in
          let device = try ResolvedDevice.transient(
            target.device.text, profile, capture: sweep.capture)
          return try await sweep.measure(entry, at: device, profile: profile)
        }
      } else {
        found += try await measured(of: profile, in: session) {
          (entry) async throws(CommandFault) in
          try sweep.measure(entry, inVirtualTime: profile)
        }
      }
    }
    return found
  }

  /// The kernel keeps a link for 2 s after its last socket is closed (HCI_DISCONN_TIMEOUT).
  private static let linkLinger = Duration.milliseconds(2500)

  /// Measures a real device with the link parameters that it accepts.
  private func measureReal(
    _ sweep: BenchmarkSweep, in session: Session
  ) async throws(CommandFault) -> [MeasuredLink] {
    announce(tunings.count, in: session)
    var found: [MeasuredLink] = []
    for (index, tuning) in tunings.enumerated() {
      // Otherwise the kernel reuses the previous link with its parameters.
      if index > 0, !(await Pause.sleep(for: Self.linkLinger)) { throw .stopped }
      let destination = try await ResolvedDevice.resolve(
        target.device, in: session, tuning: tuning, isTuningExplicit: phy != nil || interval != nil)
      let lock = try destination.lock()
      found += try await measured(of: nil, in: session) { (entry) async throws(CommandFault) in
        try await sweep.measure(entry, at: destination, profile: nil)
      }
      lock.release()
    }
    return found
  }

  /// Measures all settings on one link, and reports each result immediately.
  private func measured(
    of profile: SimulationProfile?, in session: Session,
    _ measure: (BenchmarkSweep.Case) async throws(CommandFault) -> BenchmarkRow
  ) async throws(CommandFault) -> [MeasuredLink] {
    func row(_ entry: BenchmarkSweep.Case) async throws(CommandFault) -> BenchmarkRow {
      guard !Task.isCancelled else { throw .stopped }
      return try await measure(entry)
    }
    var rows: [BenchmarkRow] = []
    for mode in modes {
      for window in window.elements {
        var found: [BenchmarkRow] = []
        for bytes in mtu.elements.compactMap(\.bytes) {
          let entry = BenchmarkSweep.Case(setting: setting(mode, window, mtu: bytes))
          found.append(try await row(entry))
          printResult(found[found.count - 1], in: session)
        }
        if hasBest(mode) {
          var setting = setting(mode, window, mtu: Self.usualMTU)
          // With the largest ATT_MTU that the device accepts, PDUs have the best size.
          let whole = found.first {
            $0.setting.mtu >= Self.usualMTU || $0.link.mtu < $0.setting.mtu
          }
          if let whole {
            setting.mtu = whole.typical.pduSize
          } else {
            setting.mtu = try await row(BenchmarkSweep.Case(setting: setting)).typical.pduSize
          }
          found.append(try await row(BenchmarkSweep.Case(setting: setting, isBest: true)))
          printResult(found[found.count - 1], in: session)
        }
        rows += found
      }
    }
    return rows.map { MeasuredLink(row: $0, profile: profile) }
  }

  /// Returns whether to measure the best size. For writes with response, the largest size is the
  /// best.
  private func hasBest(_ mode: WriteMode) -> Bool {
    mode != .withResponse && mtu.elements.contains(.best)
  }

  private func setting(
    _ mode: WriteMode, _ window: WindowChoice, mtu: Int
  ) -> LinkBenchmark.Setting {
    var setting = LinkBenchmark.Setting()
    setting.mode = mode
    setting.mtu = mtu
    setting.window = window.bytes
    setting.size = size?.bytes
    setting.repeats = self.repeat.value
    setting.asksForDecoder = !images.image.isEmpty
    return setting
  }

  /// The link parameters to request from a real device, in order.
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

  private func announce(_ links: Int, in session: Session) {
    let sizes = mtu.elements.compactMap(\.bytes).count
    let settings = modes.reduce(0) { $0 + sizes + (hasBest($1) ? 1 : 0) } * window.elements.count
    session.console.note(
      "measuring \(Text.counted(settings * links, "combination")), "
        + "\(Text.counted(self.repeat.value, "time")) each")
  }

  private func printResult(_ row: BenchmarkRow, in session: Session) {
    session.console.event("measurement", row.members(device: target.device.text))
  }

  /// Returns the links of one simulated device: all combinations of the lists.
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
          throw .simulation("the radio settings are invalid: \(error)")
        }
        profiles.append(profile)
      }
    }
    return profiles
  }
}

// MARK: - Images

extension Bench {
  /// Measures updates with an image over each link: in virtual time for a device that was measured
  /// in virtual time, predicted for other devices.
  func compare(
    _ pair: ImagePair, over links: [MeasuredLink], key: [UInt8]?, in session: Session
  ) throws(CommandFault) -> [ImageRow] {
    guard let first = links.first else { return [] }
    let receiver = first.row.typical.receiver
    let benchmark =
      if let profile = first.profile {
        try ImageBenchmark(pair, on: profile, reporting: receiver, key: key)
      } else {
        ImageBenchmark(
          pair, to: receiver, flash: simulated.map(ImageBenchmark.FlashTimes.init) ?? images.times)
      }
    var rows: [ImageRow] = []
    for link in links {
      guard !Task.isCancelled else { throw .stopped }
      let found = try benchmark.rows(over: link.row, to: link.profile)
      for row in found {
        session.console.event("delivery_rate", row.members(device: target.device.text))
      }
      rows += found
    }
    session.console.result("")
    session.console.table(ImageRow.titles, rows.map(\.cells), keeping: ["interval", "MTU", "sent"])
    for note in benchmark.notes { session.console.note(note) }
    return rows
  }
}
