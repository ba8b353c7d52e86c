#if Fleet
import OtaflashATT
import OtaflashFleet

/// The bytes per second of all links together, on the time axis of the adapter chart.
struct ThroughputChart {
  private static let height = 220.0
  private static let top = 34.0
  private static let bottom = 196.0
  /// The maximum ratio of the limit to the peak at which the limit is drawn. A higher line would
  /// flatten the chart. The text states the limit in any case.
  private static let drawnMaximum = 4.0

  let report: RunReport
  let gantt: GanttChart
  let air: ReportSurroundings.AirLimit?

  var values: PageValues {
    let scale = gantt.scale
    let bins = scale.segments.map { max(Int($0.width / 4), 1) }
    let rates = zip(scale.segments, bins).map { segment, bins in
      report.throughput.rates(
        over: WallClockTime(
          milliseconds: segment.from)..<WallClockTime(milliseconds: segment.until),
        bins: bins)
    }
    let peak = rates.joined().max() ?? 0
    let limit = air.map { $0.bytesPerSecond * Double(max(report.adapters.count, 1)) }
    let isDrawn = limit.map { $0 <= peak * Self.drawnMaximum } ?? false
    let step = Self.step(max(peak, isDrawn ? limit ?? 0 : 0, 1))
    let most = (max(peak, isDrawn ? limit ?? 0 : 0, 1) * 1.05 / step).rounded(.up) * step
    func y(_ rate: Double) -> Double { Self.bottom - rate / most * (Self.bottom - Self.top) }
    var path = ""
    for (segment, rates) in zip(scale.segments, rates) {
      let width = segment.width / Double(rates.count)
      path += "M\(segment.x.pixels) \(Self.bottom.pixels)"
      for (bin, rate) in rates.enumerated() {
        path += "V\(y(rate).pixels)H\((segment.x + width * Double(bin + 1)).pixels)"
      }
      path += "V\(Self.bottom.pixels)Z"
    }
    var values = gantt.axis(to: Self.bottom)
    values["width"] = GanttChart.width.pixels
    values["height"] = Self.height.pixels
    values["left"] = GanttChart.left.pixels
    values["path"] = path
    values["levels"] = stride(from: 0, through: most + step / 1000, by: step).map {
      level -> PageValues in
      ["levelY": y(level).pixels, "textY": (y(level) + 4).pixels, "level": Figures.rate(level)]
    }
    if isDrawn, let limit {
      values["limitY"] = y(limit).pixels
      values["limitTextY"] = (y(limit) - 5).pixels
      values["limitLabel"] = "air limit, \(Figures.rate(limit))"
    }
    values["summary"] = summary(peak, limit, isDrawn)
    return values
  }

  private func summary(_ peak: Double, _ limit: Double?, _ isDrawn: Bool) -> String {
    let bytes = report.throughput.bytes
    let seconds = gantt.scale.segments.reduce(0) { $0 + Double($1.until - $1.from) } / 1000
    let mean = Double(bytes) / max(seconds, 0.001)
    var words =
      "\(Figures.size(bytes)) in total; peak \(Figures.rate(peak)), average \(Figures.rate(mean)) "
      + "during attempts."
    guard let air, let limit, limit > 0 else { return words }
    let share = Int((mean * 100 / limit).rounded())
    words +=
      " The air limit of \(Figures.counted(report.adapters.count, "adapter")) is "
      + "\(Figures.rate(limit)) (\(air.words)): the average is \(share) % of it."
    return words
  }

  /// Returns the distance between levels: 1, 2 or 5 times a power of ten, which yields three to six
  /// levels above 0.
  private static func step(_ maximum: Double) -> Double {
    var step = 1.0
    while maximum / step > 10 { step *= 10 }
    if maximum / step > 5 { return step * 2 }
    return maximum / step > 2.5 ? step : step / 2
  }
}
#endif
