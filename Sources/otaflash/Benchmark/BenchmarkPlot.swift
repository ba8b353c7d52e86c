import OtaflashUpdate

/// A benchmark drawn: throughput against ATT_MTU with the link's limit, and the round trips. Pure:
/// rows in, SVG out.
struct BenchmarkPlot {
  /// Okabe and Ito's colours, told apart with every kind of colour vision.
  private static let palette = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"]
  private static let grid = "#dddddd"
  private static let frame = "#666666"
  private static let size = (width: 1040, height: 440)
  private static let mtuMaximum = 517

  /// The rows that differ in MTU alone.
  private struct Series {
    let name: String
    let rows: [BenchmarkRow]
    let color: String
    let shape: Int
  }

  private let title: String
  private let rows: [BenchmarkRow]
  private let series: [Series]

  init(title: String, rows: [BenchmarkRow]) {
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
        color: Self.palette[index % Self.palette.count], shape: index)
    }
  }

  var document: String {
    var canvas = SVGCanvas(width: Self.size.width, height: Self.size.height)
    canvas.text(title, at: (86, 28), isBold: true)
    drawThroughput(on: &canvas)
    drawRoundTrips(on: &canvas)
    return canvas.document
  }

  /// What sets a row's series apart from the others.
  private static func name(_ row: BenchmarkRow, among rows: [BenchmarkRow]) -> String {
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
    let highest = rows.map { max($0.rate(at: 95), $0.limitOctetsPerSecond ?? 0) }.max() ?? 1
    let horizontal = PlotAxis(to: Double(Self.mtuMaximum), range: (86, 600))
    let vertical = PlotAxis(to: highest / 1000, range: (380, 80))
    drawFrame(
      on: &canvas, horizontal, vertical, titles: ("ATT_MTU in octets", "throughput in kB/s"))
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
        vertical.position(limit.octetsPerSecond(row.setting.mode, mtu: mtu) / 1000)
      )
    }
    canvas.path(points, entry.color, isDashed: true)
  }

  private func drawLegend(on canvas: inout SVGCanvas) {
    var top = 60.0
    var left = 100.0
    for entry in series {
      let width = 30 + Double(entry.name.count) * 7.2
      if left + width > 600 {
        left = 100
        top += 18
      }
      canvas.mark((left, top - 4), entry.shape, entry.color)
      canvas.text(entry.name, at: (left + 10, top), color: entry.color)
      left += width
    }
    if series.contains(where: { $0.rows.first?.limit != nil }) {
      canvas.text("- - the link's limit", at: (left, top))
    }
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
    drawFrame(
      on: &canvas, horizontal, vertical, titles: ("round trip in ms", "writes with response"))
    for (bin, count) in zip(bins, counts) where count > 0 {
      let left = horizontal.position(Double(bin.lowerBound) / 1000)
      let right = horizontal.position(Double(bin.upperBound) / 1000)
      let top = vertical.position(Double(count))
      canvas.rectangle(left + 0.5, top, max(1, right - left - 1), 380 - top, Self.palette[0])
    }
    canvas.text(
      "median \(Text.fixed(Double(all.percentile(50)) / 1000)) ms, "
        + "p99 \(Text.fixed(Double(all.percentile(99)) / 1000)) ms, "
        + "\(Text.grouped(all.count)) writes", at: (700, 60))
  }

  /// About thirty bins of one round width, in microseconds, from 0 to beyond `maximum`.
  private static func bins(to maximum: Int) -> [Range<Int>] {
    let widths = [100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 1_000_000]
    let width = widths.first { maximum / $0 < 30 } ?? 1_000_000
    return (0...(maximum / width)).map { $0 * width..<($0 + 1) * width }
  }

  // MARK: Axes

  private func drawFrame(
    on canvas: inout SVGCanvas, _ horizontal: PlotAxis, _ vertical: PlotAxis,
    titles: (String, String)
  ) {
    let (left, right) = horizontal.range
    let (bottom, top) = vertical.range
    for tick in vertical.ticks {
      let y = vertical.position(tick)
      canvas.line((left, y), (right, y), Self.grid)
      canvas.text(Self.label(tick), at: (left - 8, y + 4), .end)
    }
    for tick in horizontal.ticks {
      let x = horizontal.position(tick)
      canvas.line((x, bottom), (x, bottom + 5), Self.frame)
      canvas.text(Self.label(tick), at: (x, bottom + 20), .middle)
    }
    canvas.line((left, bottom), (right, bottom), Self.frame)
    canvas.line((left, bottom), (left, top), Self.frame)
    canvas.text(titles.0, at: ((left + right) / 2, bottom + 44), .middle)
    canvas.text(titles.1, at: (left - 64, (top + bottom) / 2), .middle, turned: true)
  }

  private static func label(_ value: Double) -> String {
    value >= 1000 ? Text.grouped(Int(value)) : Text.decimal(value)
  }
}
