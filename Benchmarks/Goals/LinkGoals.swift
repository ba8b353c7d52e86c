import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization

/// Goals of the link, in virtual time: the result depends only on the settings.
enum LinkGoals {
  private static let intervals = ["7.5ms", "15ms", "30ms", "50ms"]
  private static let shortest = "7.5ms"
  private static let phys = ["1M", "2M"]
  /// The size of a transfer, large enough that its start and end do not matter.
  private static let size = 4 * 1024 * 1024

  static func all() throws -> [Goal] {
    try [
      fullAir(mtu: 498), fullAir(mtu: 247, intervals.filter { $0 != shortest }),
      fullAir(mtu: 247, [shortest], least: 96), atFullSpeed(), withFlash(), autoAgainstCommands(),
      autoAgainstRequests(), withResponse("next", intervals: 2),
      withResponse("same", intervals: 1), largeAgainstSmall(),
      withLoss("1%", 0.01), withLoss("10%", 0.1),
    ]
  }

  private static var links: [(phy: String, interval: String)] { links(at: intervals) }

  private static func links(at intervals: [String]) -> [(phy: String, interval: String)] {
    phys.flatMap { phy in intervals.map { (phy, $0) } }
  }

  /// Compares image bytes with write payload: the offset in each write lowers the result.
  private static func fullAir(
    mtu: Int, _ intervals: [String] = intervals, least: Int = 97
  ) throws -> Goal {
    let shares = try links(at: intervals).map { phy, interval in
      let profile = try SimulationProfile(
        parsing: "sim:fast?phy=\(phy)&interval=\(interval)&ring=60K&slot=8M")
      let limit = (20...mtu).map { profile.radio.eventPackedLimit(mtu: $0) }.max() ?? 0
      return try measure(profile, .withoutResponse, mtu: mtu, size: size).bytesPerSecond / limit
    }
    let worst = shares.min() ?? 0
    return Goal(
      what: "writes without response, MTU \(mtu), \(intervals.joined(separator: ", ")), "
        + "1M and 2M, packets of 251 bytes, no flash time",
      wanted: "≥ \(least) % of the limit of the radio model for the best PDU size within the MTU",
      measured: "\(Figure.percent(worst)) (worst) to \(Figure.percent(shares.max() ?? 0))",
      isMet: worst * 100 >= Double(least))
  }

  private static func atFullSpeed() throws -> Goal {
    let profile = try SimulationProfile(parsing: "sim:fast?interval=15ms&ring=60K&slot=8M")
    let found = try measure(profile, .withoutResponse, mtu: 512, size: size)
    return Goal(
      what: "writes without response, MTU 512, 15ms, 2M, no flash time", wanted: "≥ 170 kB/s",
      measured: "\(Figure.kilobytes(found.bytesPerSecond)) in PDUs of \(found.pduSize) bytes",
      isMet: found.bytesPerSecond >= 170_000)
  }

  /// Measures the cost of the write with response in each window.
  private static func autoAgainstCommands() throws -> Goal {
    let shares = try links.map { phy, interval in
      let profile = try SimulationProfile(
        parsing: "sim:fast?phy=\(phy)&interval=\(interval)&ring=60K&slot=8M")
      return try measure(profile, .auto, mtu: 512, size: size).bytesPerSecond
        / measure(profile, .withoutResponse, mtu: 512, size: size).bytesPerSecond
    }
    let worst = shares.min() ?? 0
    return Goal(
      what: "mode `auto` relative to mode `without-response`, on the same links", wanted: "≥ 99 %",
      measured: "\(Figure.percent(worst)) (worst) to \(Figure.percent(shares.max() ?? 0))",
      isMet: worst >= 0.99)
  }

  private static func autoAgainstRequests() throws -> Goal {
    let text = "sim:?phy=2M&interval=15ms&slot=4M"
    let (auto, answered) = (
      try flashRate(text, .auto).bytesPerSecond, try flashRate(text, .withResponse).bytesPerSecond
    )
    return Goal(
      what: "mode `auto` relative to mode `with-response`, updates of 1 MiB, 2M, 15 ms, 85 ms to "
        + "erase and 40 ms to write each page of 4 KiB", wanted: "≥ 1.9 times as fast",
      measured: "\(Figure.fixed(auto / answered, digits: 2)) times "
        + "(\(Figure.kilobytes(auto)) instead of \(Figure.kilobytes(answered)))",
      isMet: auto >= 1.9 * answered)
  }

  private static func withFlash() throws -> Goal {
    let shares = try links.map { phy, interval in
      try flashShare("sim:?phy=\(phy)&interval=\(interval)&ring=60K&slot=4M")
    }
    let worst = shares.min() ?? 0
    return Goal(
      what: "writes without response on the same links, 85 ms to erase and 40 ms to write each "
        + "page of 4 KiB",
      wanted: "≥ 95 % of the slower of flash and air",
      measured: "\(Figure.percent(worst)) (worst) to \(Figure.percent(shares.max() ?? 0))",
      isMet: worst >= 0.95)
  }

  private static func flashShare(_ text: String) throws -> Double {
    let (profile, rate) = try flashRate(text, .withoutResponse)
    let page = 4096.0 / ((profile.eraseTime + profile.writeTimePer4KiB) / .seconds(1))
    return rate / min(page, profile.radio.eventPackedLimit(mtu: 498))
  }

  /// Returns the rate of upload and VERIFY. VERIFY is included to account for the data that the
  /// device still holds in RAM.
  private static func flashRate(
    _ text: String, _ mode: WriteMode
  ) throws -> (profile: SimulationProfile, bytesPerSecond: Double) {
    let profile = try SimulationProfile(parsing: text)
    let image = FirmwareImage(
      name: "goal.bin", format: .binary, bytes: [UInt8](repeating: 0x5A, count: 1024 * 1024),
      version: FirmwareVersion(2, 0, 0), hardware: profile.hardware)
    let time = Mutex(Duration.zero)
    var options = UpdateOptions()
    options.patches.policy = .never
    options.mode = mode
    let update = FirmwareUpdate(image: image, options: options) { event in
      switch event {
      case .stageEnded(.upload, let took), .stageEnded(.verify, let took):
        time.withLock { $0 += took }
      default: break
      }
    }
    _ = try VirtualRun.of(profile) { (dialer, clock) async throws(UpdateFault) in
      try await update.run(on: dialer, clock: clock)
    }
    return (profile, Double(image.bytes.count) / (time.withLock { $0 } / .seconds(1)))
  }

  private static func withResponse(_ response: String, intervals count: Int) throws -> Goal {
    let shares = try links.map { phy, interval -> Double in
      let profile = try SimulationProfile(
        parsing: "sim:fast?phy=\(phy)&interval=\(interval)&response=\(response)")
      let found = try measure(profile, .withResponse, mtu: 512, size: 256 * 1024)
      let writes = (found.bytes + found.chunk - 1) / found.chunk
      return profile.radio.interval.duration * count * writes / found.took
    }
    let worst = shares.min() ?? 0
    return Goal(
      what: count == 2
        ? "writes with response" : "writes with response, answered in the same connection event",
      wanted: "≥ 99 % of one write per \(count == 2 ? "two intervals" : "interval")",
      measured: "\(Figure.percent(worst)) (worst) to \(Figure.percent(shares.max() ?? 0))",
      isMet: worst >= 0.99)
  }

  private static func largeAgainstSmall() throws -> Goal {
    let profile = try SimulationProfile(parsing: "sim:?interval=15ms")
    let times = try [23, 498].map { mtu in
      try measure(profile, .withResponse, mtu: mtu, size: 256 * 1024).took / .seconds(1)
    }
    return Goal(
      what: "MTU 498 relative to MTU 23, writes with response, 256 KiB",
      wanted: "≥ 6 times as fast",
      measured: "\(Figure.fixed(times[0] / times[1])) times (\(Figure.fixed(times[1])) s instead "
        + "of \(Figure.fixed(times[0])) s at 15 ms)", isMet: times[0] / times[1] >= 6)
  }

  private static func withLoss(_ text: String, _ loss: Double) throws -> Goal {
    let shares = try ["1M", "2M"].flatMap { phy in
      try ["7.5ms", "15ms"].map { interval in
        let profile = try SimulationProfile(
          parsing: "sim:fast?phy=\(phy)&interval=\(interval)&ring=60K&slot=8M&loss=\(text)")
        let found = try measure(profile, .withoutResponse, mtu: 512, size: size)
        return found.bytesPerSecond / profile.radio.eventPackedLimit(mtu: 498) / (1 - loss)
      }
    }
    let worst = shares.min() ?? 0
    return Goal(
      what: "writes without response with \(text) packet loss, 7.5 and 15 ms",
      wanted: "≥ 97 % of the limit for complete packets × (1 − loss)",
      measured: "\(Figure.percent(worst)) (worst) to \(Figure.percent(shares.max() ?? 0))",
      isMet: worst >= 0.97)
  }

  // MARK: Running

  private static func measure(
    _ profile: SimulationProfile, _ mode: WriteMode, mtu: Int, size: Int
  ) throws -> LinkBenchmark.Measurement {
    var setting = LinkBenchmark.Setting()
    setting.mode = mode
    setting.mtu = mtu
    setting.size = size
    let benchmark = LinkBenchmark(setting: setting)
    return try VirtualRun.of(profile) { (dialer, clock) async throws(UpdateFault) in
      try await benchmark.run(on: dialer, clock: clock)
    }[0]
  }
}
