import OtaflashConsole
import OtaflashUpdate

/// The plot of a benchmark: throughput against ATT_MTU with the link's limit, and the round trips.
/// The plot has no side effects: the input is rows, the output SVG.
package struct BenchmarkPlot {
  private static let size = (width: 1040, height: 440)
  private static let mtuMaximum = 517

  /// Rows that differ only in MTU.
  private struct Series {
    let name: String
    let rows: [BenchmarkRow]
    let color: String
    let shape: Int
  }

  private let title: String
  private let rows: [BenchmarkRow]
  private let series: [Series]

  package init(title: String, rows: [BenchmarkRow]) {
    self.title = title
    self.rows = rows
    var groups: [(name: String, rows: [BenchmarkRow])] = []
    for row in rows {
      let name = Self.name(row, among: rows)
      if let index = groups.firstIndex(where: { $0.name == name }) {
        groups[index].rows.append(row)
      } else {
        groups.append((name, [row]))
      }
    }
    series = groups.enumerated().map { index, group in
      Series(
        name: group.name, rows: group.rows.sorted { $0.link.mtu < $1.link.mtu },
        color: SVGCanvas.palette[index % SVGCanvas.palette.count], shape: index)
    }
  }

  package var document: String {
    var canvas = SVGCanvas(width: Self.size.width, height: Self.size.height)
    canvas.text(title, at: (86, 28), isBold: true)
    drawThroughput(on: &canvas)
    drawRoundTrips(on: &canvas)
    return canvas.document
  }

  /// Returns the name of a row's series: the settings that distinguish the series from the others.
  package static func name(_ row: BenchmarkRow, among rows: [BenchmarkRow]) -> String {
    var parts = [row.setting.mode.rawValue]
    if Set(rows.map(\.link.phy)).count > 1, let phy = row.link.phy { parts.append(phy.rawValue) }
    if Set(rows.map(\.link.intervalMilliseconds)).count > 1,
      let interval = row.link.intervalMilliseconds
    {
      parts.append(Text.decimal(interval) + " ms")
    }
    if Set(rows.map(\.setting.window)).count > 1 {
      parts.append("window " + (row.setting.window.map(Text.grouped) ?? "of the device"))
    }
    return parts.joined(separator: ", ")
  }

  // MARK: Throughput

  private func drawThroughput(on canvas: inout SVGCanvas) {
    let highest = rows.map { max($0.rate(at: 95), $0.limitBytesPerSecond ?? 0) }.max() ?? 1
    let horizontal = PlotAxis(to: Double(Self.mtuMaximum), range: (86, 600))
    let vertical = PlotAxis(to: highest / 1000, range: (380, 80))
    canvas.frame(horizontal, vertical, titles: ("ATT_MTU in bytes", "throughput in kB/s"))
    for entry in series {
      drawLimit(of: entry, on: &canvas, horizontal, vertical)
      let points = entry.rows.map { row in
        (
          horizontal.position(Double(row.link.mtu)), vertical.position(row.rate(at: 50) / 1000)
        )
      }
      canvas.path(points, entry.color)
      for (row, point) in zip(entry.rows, points) {
        let spread = [5, 95].map { vertical.position(row.rate(at: $0) / 1000) }
        canvas.line((point.0, spread[0]), (point.0, spread[1]), entry.color, width: 1.5)
        canvas.mark(point, entry.shape, entry.color)
        if row.isBest { canvas.ringBest(point, mtu: row.link.mtu, entry.color, within: horizontal) }
      }
    }
    drawLegend(on: &canvas)
  }

  private func drawLimit(
    of entry: Series, on canvas: inout SVGCanvas, _ horizontal: PlotAxis, _ vertical: PlotAxis
  ) {
    guard let row = entry.rows.first, let limit = row.limit else { return }
    let points = (23...Self.mtuMaximum).map { mtu in
      (
        horizontal.position(Double(mtu)),
        vertical.position(limit.bytesPerSecond(row.setting.mode, mtu: mtu) / 1000)
      )
    }
    canvas.path(points, entry.color, isDashed: true)
  }

  private func drawLegend(on canvas: inout SVGCanvas) {
    let hasLimit = series.contains { $0.rows.first?.limit != nil }
    canvas.legend(
      series.map { ($0.name, $0.color, $0.shape) }, to: 600,
      limit: hasLimit ? "the link's limit" : nil)
  }

  // MARK: Round trips

  private func drawRoundTrips(on canvas: inout SVGCanvas) {
    let all = RoundTrips()
    for row in rows { all.merge(row.roundTrips) }
    guard all.count > 0 else { return }
    let bins = Self.bins(to: all.percentile(99.9))
    let counts = bins.map { all.count(in: $0) }
    let highest = Double(counts.max() ?? 1)
    let horizontal = PlotAxis(
      to: Double(bins[bins.count - 1].upperBound) / 1000, range: (700, 1010))
    let vertical = PlotAxis(to: highest, range: (380, 80))
    canvas.frame(horizontal, vertical, titles: ("round trip in ms", "writes with response"))
    for (bin, count) in zip(bins, counts) where count > 0 {
      let left = horizontal.position(Double(bin.lowerBound) / 1000)
      let right = horizontal.position(Double(bin.upperBound) / 1000)
      let top = vertical.position(Double(count))
      canvas.rectangle(left + 0.5, top, max(1, right - left - 1), 380 - top, SVGCanvas.palette[0])
    }
    canvas.text(
      "median \(Text.fixed(Double(all.percentile(50)) / 1000)) ms, "
        + "p99 \(Text.fixed(Double(all.percentile(99)) / 1000)) ms, "
        + "\(Text.grouped(all.count)) writes", at: (700, 60))
  }

  /// Returns at most thirty bins from 0 to above `maximum` (more for a maximum of 30 s or more);
  /// their width is a round number of microseconds.
  private static func bins(to maximum: Int) -> [Range<Int>] {
    let widths = [100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 1_000_000]
    let width = widths.first { maximum / $0 < 30 } ?? 1_000_000
    return (0...(maximum / width)).map { $0 * width..<($0 + 1) * width }
  }
}
