#if Sites
import OtaflashFleet
import OtaflashFleetReport

/// The chart of a run, which shows the number of devices with a final outcome over time, by
/// outcome. Waits between waves are shortened as in the report.
struct RunChart: Sendable {
  private static let width = 1000.0
  private static let height = 200.0
  private static let left = 56.0
  private static let top = 14.0
  private static let bottom = 168.0
  /// The horizontal distance of two points of a curve, in the units of the chart.
  private static let step = 6.0

  private let scale: TimeScale
  private let points: [(x: Double, sums: (succeeded: Int, failed: Int, rest: Int))]
  private let total: Int
  private let counts: OutcomeCounts

  init(_ index: RunIndex) {
    let run = index.run
    let began = run.beganAt ?? run.lastAt
    let busy = run.waves.compactMap { wave -> Range<WallClockTime>? in
      guard let from = wave.times.began else { return nil }
      let until = wave.isSettled ? wave.times.soakBegan ?? wave.times.judged : nil
      return from..<max(from, until ?? run.lastAt)
    }
    let scale = TimeScale(
      busy: busy, whole: began..<max(began, run.lastAt), left: Self.left,
      width: Self.width - Self.left)
    var places: [(x: Double, at: WallClockTime)] = []
    for segment in scale.segments {
      let steps = max(1, Int(segment.width / Self.step))
      for step in 0...steps {
        let x = segment.x + segment.width * Double(step) / Double(steps)
        places.append((x, scale.moment(of: segment, Double(step) / Double(steps))))
      }
    }
    let sums = index.settled(until: places.map(\.at))
    points = zip(places, sums).map { ($0.x, $1) }
    self.scale = scale
    total = max(1, index.deviceCount)
    counts = index.counts
  }

  var html: HTML {
    let ticks = scale.ticks(in: .utc, apart: 90).map { tick -> HTML in
      """
      <line class="grid" x1="\(tick.x)" x2="\(tick.x)" y1="\(Self.top)" y2="\(Self.bottom)"/>\
      <text class="tick" x="\(tick.x)" y="\(Self.bottom + 16)">\(tick.label)</text>

      """
    }
    let gaps = scale.breaks.map { gap -> HTML in
      """
      <rect class="gap" x="\(gap.x)" width="\(gap.width)" y="\(Self.top)" \
      height="\(Self.bottom - Self.top)"><title>\(Figures.duration(gap.milliseconds)) without \
      attempts</title></rect>

      """
    }
    let levels = [0, total / 2, total].map { level -> HTML in
      """
      <text class="tick end" x="\(Self.left - 8)" y="\(y(level) + 4)">\(grouped: level)</text>\
      <line class="grid" x1="\(Self.left)" x2="\(Self.width)" y1="\(y(level))" y2="\(y(level))"/>

      """
    }
    return """
      <div class="scroll" role="region" aria-label="Chart of the progress" tabindex="0">
      <svg class="chart" viewBox="0 0 \(Self.width) \(Self.height)" role="img" \
      aria-label="\(summary)">
      \(gaps)\(ticks)\(levels)\
      <path class="succeeded" d="\(area({ _ in 0 }, { $0.succeeded }))"/>\
      <path class="failed" d="\(area({ $0.succeeded }, { $0.succeeded + $0.failed }))"/>\
      <path class="unseen" \
      d="\(area({ $0.succeeded + $0.failed }, { $0.succeeded + $0.failed + $0.rest }))"/>
      </svg></div>

      """
  }

  private var summary: String {
    let last = points.last?.sums ?? (succeeded: 0, failed: 0, rest: 0)
    let settled = last.succeeded + last.failed + last.rest
    return "Devices with a final outcome over time: \(settled) of \(total). "
      + OutcomeBar.summary(counts)
  }

  private func y(_ devices: Int) -> Double {
    Self.bottom - Double(devices) / Double(total) * (Self.bottom - Self.top)
  }

  /// Returns the path of the area between two curves; empty if the area is empty.
  private func area(
    _ lower: ((succeeded: Int, failed: Int, rest: Int)) -> Int,
    _ upper: ((succeeded: Int, failed: Int, rest: Int)) -> Int
  ) -> String {
    guard points.contains(where: { upper($0.sums) > lower($0.sums) }) else { return "" }
    var path = ""
    for (number, point) in points.enumerated() {
      path += "\(number == 0 ? "M" : "L")\(point.x.pixels) \(y(upper(point.sums)).pixels)"
    }
    for point in points.reversed() {
      path += "L\(point.x.pixels) \(y(lower(point.sums)).pixels)"
    }
    return path + "Z"
  }
}

extension TimeScale {
  /// Returns the moment at a fraction, 0…1, of a segment.
  fileprivate func moment(of segment: Segment, _ share: Double) -> WallClockTime {
    let length = Double(segment.until - segment.from)
    return WallClockTime(milliseconds: segment.from + Int64(length * share))
  }
}
#endif
