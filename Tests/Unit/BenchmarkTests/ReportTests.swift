import OtaflashATT
import OtaflashSimulation
import OtaflashUpdate
import Testing

@testable import OtaflashBench
@testable import OtaflashConsole
@testable import OtaflashDevices
@testable import otaflash

/// The rows of `otaflash bench`, measured in virtual time.
private func benchmarkRows(
  _ profile: String = "sim:", mtus: [Int] = [23, 498],
  modes: [WriteMode] = [.withResponse, .withoutResponse], best: Int? = nil
) throws -> [BenchmarkRow] {
  let profile = try SimulationProfile(parsing: profile)
  return try modes.flatMap { mode in
    try mtus.map { mtu in
      var setting = LinkBenchmark.Setting()
      setting.mode = mode
      setting.mtu = mtu
      setting.size = 32 * 1024
      setting.repeats = 3
      return try BenchmarkSweep(key: nil)
        .measure(BenchmarkSweep.Case(setting: setting, isBest: mtu == best), inVirtualTime: profile)
    }
  }
}

@Suite struct BenchmarkReportTests {
  @Test func theTableMatches() throws {
    let table = Text.table([BenchmarkRow.titles] + (try benchmarkRows().map(\.cells)))
    #expect(table.joined(separator: "\n") == Self.golden)
  }

  private static let golden = """
    mode              PHY  interval  MTU  PDU  window  kB/s   p5     p95    of limit  round trip  sent again  limited by
    with-response     2M   15 ms     23   23   device  0.5    0.5    0.5    80.0%     30.0 ms     0           connection interval
    with-response     2M   15 ms     498  498  device  16.3   16.3   16.3   98.8%     30.0 ms     0           connection interval
    without-response  2M   15 ms     23   23   device  31.2   31.2   31.2   78.0%     -           0           air
    without-response  2M   15 ms     498  473  device  155.7  155.7  155.7  88.6%     -           0           air
    """

  @Test func theNumbersMatchTheTransfers() throws {
    let row = try benchmarkRows("sim:?interval=30ms", mtus: [247], modes: [.withResponse])[0]
    #expect(row.measurements.count == 3)
    #expect(row.rate(at: 5) <= row.rate(at: 50) && row.rate(at: 50) <= row.rate(at: 95))
    #expect(row.roundTrips.count == 3 * 137)
    #expect(abs(row.roundTrips.percentile(50) - 60_000) < 300)
    #expect(row.bottleneck == .connectionInterval)
    #expect(row.bytesSentAgain == 0)
  }

  @Test(arguments: [
    ("sim:?ring=60K&interval=15ms", Bottleneck.air), ("sim:?ring=2K", .window),
    ("sim:?ring=60K&interval=7.5ms&phy=1M&buffers=1", .connectionInterval),
  ])
  func theBottleneckIsNamed(_ profile: String, _ expected: Bottleneck) throws {
    #expect(
      try benchmarkRows(profile, mtus: [498], modes: [.withoutResponse])[0].bottleneck == expected)
  }

  @Test func anUnknownLinkHasNoLimit() throws {
    #expect(LinkLimit(LinkReport(mtu: 498)) == nil)
    #expect(
      LinkLimit(LinkReport(mtu: 498, phy: .le2M, connectionInterval: .milliseconds(15))) != nil)
  }

  /// If only the controller knows the coding, the limit is the limit of the faster coding.
  @Test func aCodedLinkHasALimit() throws {
    let link = LinkReport(mtu: 498, phy: .coded, connectionInterval: .milliseconds(50))
    let limit = try #require(AirLimit.bytesPerSecond(link))
    var faster = link
    faster.phy = .codedS2
    #expect(AirLimit.bytesPerSecond(faster) == limit)
    #expect((40_000.0...47_000).contains(limit), "\(limit)")
  }

  /// Three packets of 233 bytes fill an event of 50 ms on S=8 except for 12 µs. With pairs of
  /// packets of 251 and 200 bytes, half of the packets would not fit.
  @Test(arguments: [("S8", 229), ("2M", 245)])
  func writesAreSizedForThePHY(_ phy: String, _ pdu: Int) throws {
    let row = try benchmarkRows(
      "sim:?ring=60K&interval=50ms&phy=\(phy)", mtus: [447], modes: [.withoutResponse])[0]
    #expect(row.link.phy?.rawValue == phy)
    #expect(row.typical.chunk == pdu - 3 - 4)
  }

  // MARK: The plot

  @Test func thePlotIsWellFormedAndNamesItsUnits() throws {
    let plot = BenchmarkPlot(title: "bench -d sim:?a=1&b<2", rows: try benchmarkRows()).document
    let check = XMLCheck(plot)
    #expect(check.isWellFormed)
    #expect(check.texts.contains("bench -d sim:?a=1&b<2"))
    for text in [
      "ATT_MTU in bytes", "throughput in kB/s", "round trip in ms", "writes with response",
      "with-response", "without-response", "- - the link's limit",
    ] {
      #expect(check.texts.contains(text), "\(text)")
    }
    // The plot contains two series, each with a limit.
    #expect(check.count(of: "polyline") == 4)
    #expect(!check.texts.contains { $0.hasPrefix("best") })
  }

  /// A ring and a label mark the size that fills connection events.
  @Test func theBestSizeIsMarkedAndNamed() throws {
    let rows = try benchmarkRows(mtus: [247, 477], best: 477)
    let check = XMLCheck(BenchmarkPlot(title: "", rows: rows).document)
    let plain = XMLCheck(
      BenchmarkPlot(title: "", rows: try benchmarkRows(mtus: [247, 477])).document)
    #expect(check.isWellFormed)
    #expect(check.texts.count { $0 == "best 477" } == 2, "one per series")
    #expect(check.count(of: "circle") == plain.count(of: "circle") + 2)
  }

  @Test(arguments: ["plot", "plot.pdf", "plot.svg.gz", ""])
  func aPlotIsAnSVGFile(_ path: String) throws {
    #expect(throws: (any Error).self) { try PlotFile.parse(path) }
    #expect(try PlotFile.parse(path + ".svg").file.kind == .svg)
  }

  @Test func aPNGFileIsRefusedWithTheCommandThatConverts() {
    let error = #expect(throws: (any Error).self) { try PlotFile.parse("my plot.png") }
    #expect(
      error.map { "\($0)" }
        == "the plot is an SVG document: name the file .svg, then run "
        + "'rsvg-convert -o 'my plot.png' 'my plot.svg''")
  }

  @Test func aPlotWithoutRoundTripsHasOnePanel() throws {
    let plot = BenchmarkPlot(title: "", rows: try benchmarkRows(modes: [.withoutResponse])).document
    #expect(!plot.contains("round trip in ms"))
  }

  @Test(arguments: [0.3, 7, 17, 180, 517, 24_000])
  func anAxisHoldsItsMaximumBetweenAFewTicks(_ maximum: Double) {
    let axis = PlotAxis(to: maximum, range: (0, 100))
    #expect(axis.domain.upperBound >= maximum && axis.domain.upperBound <= maximum * 1.5)
    #expect((3...12).contains(axis.ticks.count))
    #expect(abs(axis.position(axis.domain.upperBound) - 100) < 1e-9)
  }

  // MARK: The baseline

  private static func lines(_ rows: [BenchmarkRow], faster factor: Double) -> String {
    let other = "{\"type\":\"hello\"}"
    return rows.map { row in
      var key = "\"mode\":\"\(row.setting.mode.rawValue)\",\"mtu\":\(row.setting.mtu)"
      if let phy = row.link.phy { key += ",\"phy\":\"\(phy.rawValue)\"" }
      if let interval = row.link.intervalMilliseconds { key += ",\"interval_ms\":\(interval)" }
      return "{\"type\":\"measurement\",\(key),\"median_bytes_per_second\":"
        + "\(row.rate(at: 50) * factor)}"
    }.joined(separator: "\n") + "\n" + other
  }

  @Test func onlySlowRowsFallShort() throws {
    let rows = try benchmarkRows(modes: [.withResponse])
    let fair = try Baseline(path: "b", lines: Self.lines(rows, faster: 1.05))
    #expect(try fair.shortfalls(of: rows, below: 0.9) == [])
    let strict = try Baseline(path: "b", lines: Self.lines(rows, faster: 1.25))
    let found = try strict.shortfalls(of: rows, below: 0.9)
    #expect(found.map(\.key) == rows.map(\.key))
    #expect(abs(found[0].share - 0.8) < 1e-9)
    #expect(found[0].sentence == "with-response, MTU 23, 2M, 15 ms at 80.0% of the baseline")
  }

  @Test func anInvalidBaselineIsReported() throws {
    for lines in ["", "{", "{\"type\":\"measurement\"}", "{\"type\":\"hello\"}"] {
      #expect(throws: BaselineFault.malformed(path: "b")) {
        try Baseline(path: "b", lines: lines)
      }
    }
    let rows = try benchmarkRows(mtus: [23], modes: [.withResponse])
    let other = try Baseline(
      path: "b", lines: Self.lines(rows, faster: 1).replacing("15", with: "30"))
    #expect(throws: BaselineFault.nothingInCommon(path: "b")) {
      try other.shortfalls(of: rows, below: 0.9)
    }
  }

  // MARK: Lists

  @Test func listsAreChecked() throws {
    #expect(try CommaList<MTUChoice>.parse("23,best").elements == [.bytes(23), .best])
    #expect(try CommaList<WindowChoice>.parse("device,2K").description == "device,2048")
    #expect(
      try CommaList<ConnectionInterval>.parse("7.5ms,1s").elements.map(\.microseconds)
        == [7500, 1_000_000])
    for text in ["", "22", "518", "23,", "23,23", "x"] {
      #expect(throws: (any Error).self) { try CommaList<MTUChoice>.parse(text) }
    }
    #expect(throws: (any Error).self) { try CommaList<ConnectionInterval>.parse("8ms") }
    #expect(throws: (any Error).self) { try Percentage.parse("90") }
  }
}
