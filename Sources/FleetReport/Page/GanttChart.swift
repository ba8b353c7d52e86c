#if Fleet
import OtaflashATT
import OtaflashFleet
import OtaflashNumerals

/// The chart of attempts by adapter and time. If there are few attempts, each is a bar with the
/// name of its device. If there are many, each adapter has a line that shows its number of
/// concurrent attempts.
struct GanttChart {
  static let width = 1000.0
  static let left = 92.0
  private static let detailMaximum = 260
  private static let lanesMaximum = 40
  private static let barHeight = 17.0
  private static let barGap = 3.0
  private static let laneGap = 10.0
  private static let top = 34.0
  private static let lineHeight = 30.0
  private static let bins = 300

  let report: RunReport
  let scale: TimeScale
  let zone: ZoneOffsets

  private var adapters: [AdapterReport] {
    guard report.adapters.count > Self.lanesMaximum else { return report.adapters }
    let busiest = report.adapters.sorted { $0.stretches.count > $1.stretches.count }
    let shown = Set(busiest.prefix(Self.lanesMaximum).map(\.name))
    return report.adapters.filter { shown.contains($0.name) }
  }

  var values: PageValues {
    let adapters = adapters
    let isDetailed =
      adapters.reduce(0) { $0 + $1.stretches.count } <= Self.detailMaximum
      && adapters.reduce(0) { $0 + $1.mostAtOnce } <= Self.detailMaximum / 4
    var lanes: [PageValues] = []
    var y = Self.top
    for adapter in adapters {
      let (lane, height) = isDetailed ? detailed(adapter, y) : aggregated(adapter, y)
      lanes.append(lane)
      y += height + Self.laneGap
    }
    var values = axis(to: y - Self.laneGap / 2)
    values["lanes"] = lanes
    values["width"] = Self.width.pixels
    values["height"] = (y + 2).pixels
    values["isDetailed"] = isDetailed
    values["summary"] = summary(isDetailed)
    values["hasOpen"] = isDetailed && report.counts[.running] > 0
    let left = report.adapters.count - adapters.count
    if left > 0 { values["others"] = "\(Figures.counted(left, "further adapter")) not shown" }
    return values
  }

  private func summary(_ isDetailed: Bool) -> String {
    let names = adapters.prefix(4).map {
      "\(VisibleWords.escaped($0.name, limit: 40)) had "
        + "\(Figures.counted($0.stretches.count, "attempt")) in "
        + Figures.duration($0.busyMilliseconds)
    }
    let rest = adapters.count > 4 ? ", and \(adapters.count - 4) more" : ""
    return (isDetailed ? "Each bar is one attempt on a device. " : "")
      + names.joined(separator: ", ") + rest + "."
  }

  /// Returns the time axis: labels at round times, and lines down to `bottom`.
  func axis(to bottom: Double) -> PageValues {
    let ticks = scale.ticks(in: zone).map { tick -> PageValues in
      ["x": tick.x.pixels, "label": tick.label, "date": tick.date ?? ""]
    }
    let breaks = scale.breaks.map { gap -> PageValues in
      [
        "x": gap.x.pixels, "width": gap.width.pixels,
        "middle": (gap.x + gap.width / 2).pixels,
        "words": "\(Figures.duration(gap.milliseconds)) without attempts",
      ]
    }
    return [
      "ticks": ticks, "breaks": breaks, "bottom": bottom.pixels,
      "axisTop": (Self.top - 8).pixels, "axisHeight": (bottom - Self.top + 8).pixels,
    ]
  }

  // MARK: Bars of attempts

  private func detailed(_ adapter: AdapterReport, _ y: Double) -> (PageValues, height: Double) {
    var ends: [WallClockTime] = []
    var bars: [PageValues] = []
    for stretch in adapter.stretches {
      let row: Int
      if let free = ends.firstIndex(where: { $0 <= stretch.from }) {
        row = free
        ends[free] = stretch.until
      } else {
        row = ends.count
        ends.append(stretch.until)
      }
      bars.append(bar(stretch, on: adapter, y + Double(row) * (Self.barHeight + Self.barGap)))
    }
    let height = max(Double(ends.count), 1) * (Self.barHeight + Self.barGap)
    return (lane(adapter, y, height, ["bars": bars]), height)
  }

  private func bar(
    _ stretch: AdapterReport.Stretch, on adapter: AdapterReport, _ y: Double
  ) -> PageValues {
    let x = scale.position(stretch.from)
    let width = max(scale.position(stretch.until) - x - 1, 2)
    let name = VisibleWords.escaped(report.devices[stretch.device].label, limit: 60)
    // Few letters of the font exceed this width.
    let room = Int((width - 8) / 6.6)
    let scalars = name.unicodeScalars
    // A truncated name is not readable on a hatched bar.
    let least = stretch.attempt.pageClass == Outcome.failed.rawValue ? scalars.count : 5
    let label =
      scalars.count <= room
      ? name : room >= least ? VisibleWords.escaped(name, limit: room - 1) : ""
    let from = CalendarTime(stretch.from, in: zone).clock
    return [
      "x": x.pixels, "y": y.pixels, "width": width.pixels, "height": Self.barHeight.pixels,
      "class": stretch.attempt.pageClass, "label": label, "labelX": (x + 5).pixels,
      "labelY": (y + 12.5).pixels,
      "hint": "\(name), attempt \(stretch.attempt.number): \(stretch.attempt.words), from \(from), "
        + Figures.duration(stretch.until.milliseconds - stretch.from.milliseconds),
    ]
  }

  private func lane(
    _ adapter: AdapterReport, _ y: Double, _ height: Double, _ more: PageValues
  ) -> PageValues {
    let values: PageValues = [
      "name": VisibleWords.escaped(adapter.name, limit: 12), "nameY": (y + 12.5).pixels,
      "countY": (y + 26).pixels, "laneY": (y - 4).pixels, "laneHeight": (height + 5).pixels,
      "count": height > 26 ? "\(Numerals.grouped(adapter.succeeded)) done" : "",
    ]
    return values.merging(more) { $1 }
  }

  // MARK: Counts of concurrent attempts

  private func aggregated(_ adapter: AdapterReport, _ y: Double) -> (PageValues, height: Double) {
    let height = Self.lineHeight
    let step = (Self.width - Self.left) / Double(Self.bins)
    var load = [Double](repeating: 0, count: Self.bins)
    var failures = [Int](repeating: 0, count: Self.bins)
    for stretch in adapter.stretches {
      let from = (scale.position(stretch.from) - Self.left) / step
      let until = (scale.position(stretch.until) - Self.left) / step
      let first = min(max(Int(from), 0), Self.bins - 1)
      let last = min(max(Int(until), first), Self.bins - 1)
      for bin in first...last {
        load[bin] += max(min(until, Double(bin + 1)) - max(from, Double(bin)), 0)
      }
      if case .failed = stretch.attempt.ending { failures[last] += 1 }
    }
    let most = max(Double(adapter.mostAtOnce), 1)
    var path = "M\(Self.left.pixels) \((y + height).pixels)"
    for (bin, value) in load.enumerated() {
      let x = Self.left + Double(bin) * step
      let top = y + height - min(value / most, 1) * (height - 4)
      path += "L\(x.pixels) \(top.pixels)H\((x + step).pixels)"
    }
    path += "V\((y + height).pixels)Z"
    let mostFailures = Double(max(failures.max() ?? 1, 1))
    let marks = failures.enumerated().filter { $0.element > 0 }.map { bin, count -> PageValues in
      let size = 2 + 4 * Double(count) / mostFailures
      return [
        "markX": (Self.left + Double(bin) * step).pixels, "markY": (y + height + 1).pixels,
        "markWidth": max(step - 0.6, 1).pixels, "markHeight": size.pixels,
      ]
    }
    let words =
      "\(VisibleWords.escaped(adapter.name, limit: 40)): "
      + "\(Figures.counted(adapter.stretches.count, "attempt")), "
      + "at most \(adapter.mostAtOnce) at a time, "
      + "\(Numerals.grouped(adapter.failed)) failed"
    return (
      lane(
        adapter, y, height, ["path": path, "marks": marks, "pathWords": words, "hasPath": true]),
      height + 4
    )
  }
}

extension AttemptRecord {
  var pageClass: String {
    switch ending {
    case .updated, .current: "succeeded"
    case .failed: "failed"
    case .skipped, .returned: "leftOut"
    case nil: ended == nil ? "running" : "leftOut"
    }
  }

  /// The outcome, as a clause.
  package var words: String {
    switch ending {
    case .updated(let figures): "updated" + (figures.to.map { " to \($0.description)" } ?? "")
    case .current: "already ran the image"
    case .failed(let failure): failure.words
    case .skipped(let words): words
    case .returned(let reason): reason.words
    case nil:
      ended == nil ? "in progress" : "the process that updated the device stopped responding"
    }
  }
}
#endif
