import OtaflashATT
import OtaflashConsole
import OtaflashDevices
import OtaflashSimulation
import OtaflashUpdate

/// One line of a benchmark: a setting, its transfers, and their results.
package struct BenchmarkRow: Sendable {
  package let setting: LinkBenchmark.Setting
  /// The measurements over one connection, at least one.
  package let measurements: [LinkBenchmark.Measurement]
  /// The round trips of writes with response; empty if there are no such writes.
  package let roundTrips: RoundTrips
  /// The air limit; `nil` for a link without a radio, or with unknown parameters.
  package let limit: LinkLimit?
  /// Whether the MTU is the size that was found to fill connection events.
  package let isBest: Bool
  private let sorted: [LinkBenchmark.Measurement]

  package init(
    setting: LinkBenchmark.Setting, measurements: [LinkBenchmark.Measurement],
    roundTrips: RoundTrips, model: RadioModel?, isBest: Bool = false
  ) {
    precondition(!measurements.isEmpty)
    self.setting = setting
    self.measurements = measurements
    self.roundTrips = roundTrips
    self.isBest = isBest
    limit = model.map(LinkLimit.init) ?? LinkLimit(measurements[0].link)
    sorted = measurements.sorted { $0.bytesPerSecond < $1.bytesPerSecond }
  }

  package var link: LinkReport { measurements[0].link }

  /// The median transfer by rate.
  package var typical: LinkBenchmark.Measurement { transfer(at: 50) }

  /// Returns the rate in bytes per second that `percent` of the transfers did not exceed (nearest
  /// rank).
  package func rate(at percent: Int) -> Double { transfer(at: percent).bytesPerSecond }

  private func transfer(at percent: Int) -> LinkBenchmark.Measurement {
    let rank = (percent * sorted.count + 99) / 100
    return sorted[max(0, min(sorted.count, rank) - 1)]
  }

  package var limitBytesPerSecond: Double? {
    limit?.bytesPerSecond(setting.mode, mtu: link.mtu)
  }

  /// The median as a fraction of the limit; `nil` if the limit is unknown or 0.
  package var limitShare: Double? {
    limitBytesPerSecond.flatMap { $0 > 0 ? rate(at: 50) / $0 : nil }
  }

  package var bottleneck: Bottleneck { Bottleneck(typical, setting.mode, limit: limit) }

  /// The number of bytes that were sent more than once.
  package var bytesSentAgain: Int { measurements.reduce(0) { $0 + $1.bytesSent - $1.bytes } }

  /// The key that identifies the same case in two runs.
  package var key: BenchmarkKey {
    BenchmarkKey(
      mode: setting.mode.rawValue, mtu: setting.mtu, window: setting.window,
      phy: link.phy?.rawValue,
      interval: link.intervalMilliseconds)
  }
}

/// A case of a benchmark, with the member names that `--json` uses.
package struct BenchmarkKey: Hashable, Decodable, Sendable {
  package let mode: String
  package let mtu: Int
  package let window: Int?
  package let phy: String?
  package let interval: Double?

  package enum CodingKeys: String, CodingKey {
    case mode, mtu, window, phy
    case interval = "interval_ms"
  }
}

// MARK: - Text

extension BenchmarkRow {
  package static let titles = [
    "mode", "PHY", "interval", "MTU", "PDU", "window", "kB/s", "p5", "p95", "of limit",
    "round trip", "sent again", "limited by",
  ]

  package var cells: [String] {
    [
      setting.mode.rawValue, link.phy?.rawValue ?? "-",
      link.intervalMilliseconds.map { Text.decimal($0) + " ms" } ?? "-", mtuText,
      String(typical.pduSize), setting.window.map(Text.grouped) ?? "device", kilobytes(50),
      kilobytes(5), kilobytes(95),
      limitShare.map { Text.fixed($0 * 100) + "%" } ?? "-", roundTripText,
      Text.grouped(bytesSentAgain), bottleneck.rawValue,
    ]
  }

  package var mtuText: String { String(link.mtu) + (isBest ? " best" : "") }

  private func kilobytes(_ percent: Int) -> String { Text.fixed(rate(at: percent) / 1000) }

  private var roundTripText: String {
    guard roundTrips.count > 0 else { return "-" }
    return Text.fixed(Double(roundTrips.percentile(50)) / 1000) + " ms"
  }
}

// MARK: - JSON

extension BenchmarkRow {
  package func members(device: String) -> [JSONValue.Member] {
    JSONValue.fields([
      "device": .string(device), "mode": .string(setting.mode.rawValue),
      "mtu": .integer(setting.mtu), "best": isBest ? .bool(true) : nil,
      "window": .integer(setting.window),
      "phy": link.phy.map { .string($0.rawValue) },
      "interval_ms": link.intervalMilliseconds.map { .number($0) },
      "effective_mtu": .integer(link.mtu), "chunk": .integer(typical.chunk),
      "bytes": .integer(typical.bytes), "settled": typical.hasSettled.map { .bool($0) },
      "repeats": .integer(measurements.count),
      "median_bytes_per_second": .number(rate(at: 50)),
      "p5_bytes_per_second": .number(rate(at: 5)), "p95_bytes_per_second": .number(rate(at: 95)),
      "limit_bytes_per_second": limitBytesPerSecond.map { .number($0) },
      "limit_share": limitShare.map { .number($0) },
      "bytes_sent_again": .integer(bytesSentAgain),
      "rewinds": .integer(measurements.reduce(0) { $0 + $1.rewinds }),
      "round_trip_us": roundTripMembers, "bottleneck": .string(bottleneck.rawValue),
    ])
  }

  private var roundTripMembers: JSONValue? {
    guard roundTrips.count > 0 else { return nil }
    return .object([
      "count": .integer(roundTrips.count), "p50": .integer(roundTrips.percentile(50)),
      "p95": .integer(roundTrips.percentile(95)), "p99": .integer(roundTrips.percentile(99)),
      "max": .integer(roundTrips.maximum),
    ])
  }
}
