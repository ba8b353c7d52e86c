import OtaflashSimulation
import OtaflashUpdate

/// Compares the size of data writes that the host chooses with every size that may be better: an
/// exhaustive search in virtual time on each of 32 links. The search covers the sizes from half of
/// the ATT_MTU, or a smaller limit, to the ATT_MTU.
enum SizeGoals {
  /// The settings after `sim:fast?`, and the ATT_MTU.
  private static let links: [(profile: String, mtu: Int)] = [
    ("interval=15ms&phy=2M&ring=60K", 23),
    ("interval=15ms&phy=2M&ring=60K", 65),
    ("interval=15ms&phy=2M&ring=60K", 131),
    ("interval=15ms&phy=2M&ring=60K", 247),
    ("interval=15ms&phy=2M&ring=60K", 512),
    ("interval=7.5ms&phy=2M&ring=60K", 247),
    ("interval=7.5ms&phy=2M&ring=60K", 512),
    ("interval=30ms&phy=2M&ring=60K", 247),
    ("interval=30ms&phy=2M&ring=60K", 512),
    ("interval=50ms&phy=2M&ring=60K", 247),
    ("interval=50ms&phy=2M&ring=60K", 512),
    ("interval=7.5ms&phy=1M&ring=60K", 247),
    ("interval=15ms&phy=1M&ring=60K", 247),
    ("interval=30ms&phy=1M&ring=60K", 247),
    ("interval=50ms&phy=1M&ring=60K", 247),
    ("interval=30ms&phy=coded&ring=60K", 247),
    ("interval=50ms&phy=S2&ring=60K", 512),
    ("interval=15ms&phy=1M&ll=27&ring=60K", 247),
    ("interval=30ms&phy=2M&ll=123&ring=60K", 247),
    ("interval=15ms&phy=2M&ring=4K", 247),
    ("interval=15ms&phy=2M&ring=8K", 512),
    ("interval=7.5ms&phy=2M&ring=8K", 512),
    ("interval=30ms&phy=2M&ring=8K", 247),
    ("interval=15ms&phy=2M&ring=60K&buffers=2", 247),
    ("interval=15ms&phy=2M&ring=60K&buffers=4", 247),
    ("interval=30ms&phy=1M&ring=60K&buffers=6", 247),
    ("interval=15ms&phy=2M&ring=60K&buffers=4", 512),
    ("interval=15ms&phy=2M&ring=16K&buffers=3", 512),
    ("interval=15ms&phy=2M&ring=60K&loss=1%", 247),
    ("interval=15ms&phy=2M&ring=60K&loss=10%", 512),
    ("interval=30ms&phy=1M&ring=60K&loss=5%", 512),
    ("interval=15ms&phy=2M&ring=60K&security=encrypted", 247),
  ]
  private static let size = 256 * 1024
  /// The size of a PDU that fills one packet of 251 bytes; with such packets, a size below 90 % of
  /// this is never the best.
  private static let onePacketPDU = 247

  /// The result for one link.
  private struct Finding {
    let link: String
    let chosen: LinkBenchmark.Measurement
    let best: LinkBenchmark.Measurement

    var share: Double { min(1, chosen.bytesPerSecond / best.bytesPerSecond) }

    var row: String {
      "| \(link) | \(best.pduSize) | \(Figure.kilobytes(best.bytesPerSecond)) "
        + "| \(chosen.pduSize) | \(Figure.percent(share)) |"
    }
  }

  /// - Parameter show: receives each row of the table of all links as soon as it is measured.
  static func all(_ show: (String) -> Void) throws -> [Goal] {
    show("| link | best PDU size | best rate | chosen PDU size | share |\n|---|---|---|---|---|")
    let shares = try links.map { profile, mtu in
      let finding = try find(profile, mtu)
      show(finding.row)
      return finding.share
    }
    let (close, worst) = (shares.count { $0 >= 0.99 }, shares.min() ?? 0)
    return [
      Goal(
        what: "size of data writes, chosen from the granted interval and the buffers of controller "
          + "and device, relative to the best of all sizes, \(links.count) links",
        wanted: "≥ 99 % on 30, ≥ 98 % on all",
        measured: "≥ 99 % on \(close), \(Figure.percent(worst)) (worst)",
        isMet: close >= 30 && worst >= 0.98)
    ]
  }

  private static func find(_ text: String, _ mtu: Int) throws -> Finding {
    let profile = try SimulationProfile(parsing: "sim:fast?\(text)")
    let chosen = try measure(profile, mtu, chunk: nil)
    let overhead = chosen.pduSize - chosen.chunk
    var best = chosen
    for pdu in max(overhead + 1, min(mtu / 2, onePacketPDU * 9 / 10))...mtu {
      let found = try measure(profile, mtu, chunk: pdu - overhead)
      if found.bytesPerSecond > best.bytesPerSecond { best = found }
    }
    return Finding(link: "\(text), MTU \(mtu)", chosen: chosen, best: best)
  }

  private static func measure(
    _ profile: SimulationProfile, _ mtu: Int, chunk: Int?
  ) throws -> LinkBenchmark.Measurement {
    var setting = LinkBenchmark.Setting()
    setting.mode = .auto
    setting.mtu = mtu
    setting.size = size
    setting.chunk = chunk
    let benchmark = LinkBenchmark(setting: setting)
    return try VirtualRun.of(profile) { (dialer, clock) async throws(UpdateFault) in
      try await benchmark.run(on: dialer, clock: clock)
    }[0]
  }
}
