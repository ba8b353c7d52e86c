import OtaflashFleet

/// The mapping of moments to horizontal positions. Long times without attempts are shortened, so
/// that the waves are wide enough even if a night separates them.
package struct TimeScale {
  /// A stretch of time with attempts, including short gaps between them.
  package struct Segment: Hashable {
    package let from: Int64
    package let until: Int64
    package let x: Double
    package let width: Double

    var end: Double { x + width }
  }

  /// The shortened time between two segments.
  package struct Break: Hashable {
    package let x: Double
    package let width: Double
    package let milliseconds: Int64
  }

  package struct Tick {
    package let x: Double
    package let label: String
    /// The date, if it differs from the date of the previous tick.
    package let date: String?
  }

  private static let breakWidth = 30.0
  private static let breaksMaximum = 8
  private static let shortestBreak: Int64 = 30_000

  package let segments: [Segment]
  package let breaks: [Break]

  /// - Parameters:
  ///   - busy: the times with attempts, in any order.
  ///   - whole: the time to show if `busy` is empty.
  package init(
    busy: [Range<WallClockTime>], whole: Range<WallClockTime>, left: Double, width: Double
  ) {
    var spans = Self.union(busy)
    if spans.isEmpty {
      let from = whole.lowerBound.milliseconds
      spans = [(from, max(whole.upperBound.milliseconds, from + 1000))]
    }
    let total = max(spans.reduce(0) { $0 + $1.until - $1.from }, 1)
    let longest = max(Self.shortestBreak, total / 6)
    let gaps = zip(spans, spans.dropFirst()).map { $1.from - $0.until }
    let limit = max(longest, gaps.sorted(by: >).dropFirst(Self.breaksMaximum).first ?? 0)
    var joined = [spans[0]]
    for (gap, span) in zip(gaps, spans.dropFirst()) {
      if gap > limit {
        joined.append(span)
      } else {
        joined[joined.count - 1].until = span.until
      }
    }
    let shown = joined.reduce(0) { $0 + max($1.until - $1.from, 1) }
    let room = width - Self.breakWidth * Double(joined.count - 1)
    var segments: [Segment] = []
    var breaks: [Break] = []
    var x = left
    for span in joined {
      if let last = segments.last {
        breaks.append(
          Break(x: x, width: Self.breakWidth, milliseconds: span.from - last.until))
        x += Self.breakWidth
      }
      let length = max(span.until - span.from, 1)
      let share = room * Double(length) / Double(shown)
      segments.append(Segment(from: span.from, until: span.from + length, x: x, width: share))
      x += share
    }
    (self.segments, self.breaks) = (segments, breaks)
  }

  private static func union(_ times: [Range<WallClockTime>]) -> [(from: Int64, until: Int64)] {
    var spans: [(from: Int64, until: Int64)] = []
    for time in times.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      let (from, until) = (time.lowerBound.milliseconds, time.upperBound.milliseconds)
      if let last = spans.last, from <= last.until {
        spans[spans.count - 1].until = max(last.until, until)
      } else {
        spans.append((from, until))
      }
    }
    return spans
  }

  /// Returns the position of a moment; for a moment in a break, the end of the break.
  package func position(_ moment: WallClockTime) -> Double {
    let at = moment.milliseconds
    for segment in segments {
      if at < segment.from { return segment.x }
      if at <= segment.until {
        return segment.x + segment.width * Double(at - segment.from)
          / Double(segment.until - segment.from)
      }
    }
    return segments.last?.end ?? 0
  }

  private static let steps: [Int64] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
    172_800, 604_800, 2_592_000,
  ]

  /// Returns whether a label would overlap the sign above a break.
  private func overlapsBreak(_ x: Double, _ distance: Double) -> Bool {
    breaks.contains { abs($0.x + $0.width / 2 - x) < distance }
  }

  /// Returns ticks at round local times, far enough apart for their labels.
  package func ticks(in zone: ZoneOffsets, apart: Double = 72) -> [Tick] {
    let shown = segments.reduce(0) { $0 + Double($1.until - $1.from) }
    let width = segments.reduce(0) { $0 + $1.width }
    let wanted = shown / max(width, 1) * apart / 1000
    let step =
      (Self.steps.first { Double($0) >= wanted } ?? Self.steps[Self.steps.count - 1]) * 1000
    var ticks: [Tick] = []
    var date: String?
    var former = -Double.infinity
    let end = segments.last?.end ?? 0
    for segment in segments {
      let offset = Int64(zone.minutes(at: WallClockTime(milliseconds: segment.from))) * 60_000
      var at = (segment.from + offset + step - 1) / step * step - offset
      while at <= segment.until {
        let moment = WallClockTime(milliseconds: at)
        let x = position(moment)
        // A label at the edge of the chart would be clipped.
        if x - former >= apart * 0.75, x <= end - apart * 0.3, !overlapsBreak(x, apart * 0.5) {
          let time = CalendarTime(moment, in: zone)
          let isNew = time.date != date
          date = time.date
          ticks.append(
            Tick(
              x: x, label: step < 60_000 ? time.clock : time.minutes,
              date: isNew ? time.dayWords : nil))
          former = x
        }
        at += step
      }
    }
    return ticks
  }
}
