import OtaflashConsole

/// Elements that all plots share.
extension SVGCanvas {
  /// The colors of Okabe and Ito, which are distinguishable with every kind of color vision.
  package static let palette = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"]
  private static let grid = "#dddddd"
  private static let frame = "#666666"
  /// The approximate width of a character of a legend.
  private static let characterWidth = 7.2

  /// Draws the axes with their ticks and titles.
  package mutating func frame(
    _ horizontal: PlotAxis, _ vertical: PlotAxis, titles: (String, String)
  ) {
    let (left, right) = horizontal.range
    let (bottom, top) = vertical.range
    for tick in vertical.ticks {
      let y = vertical.position(tick)
      line((left, y), (right, y), Self.grid)
      text(Self.label(tick), at: (left - 8, y + 4), .end)
    }
    for tick in horizontal.ticks {
      let x = horizontal.position(tick)
      line((x, bottom), (x, bottom + 5), Self.frame)
      text(Self.label(tick), at: (x, bottom + 20), .middle)
    }
    line((left, bottom), (right, bottom), Self.frame)
    line((left, bottom), (left, top), Self.frame)
    text(titles.0, at: ((left + right) / 2, bottom + 44), .middle)
    text(titles.1, at: (left - 64, (top + bottom) / 2), .middle, turned: true)
  }

  /// Draws the legend of the marks and the dashed lines, in as many lines as needed up to `right`.
  package mutating func legend(
    _ entries: [(name: String, color: String, shape: Int)], to right: Double, limit: String?
  ) {
    var top = 60.0
    var left = 100.0
    for entry in entries {
      let width = 30 + Double(entry.name.count) * Self.characterWidth
      if left + width > right {
        left = 100
        top += 18
      }
      mark((left, top - 4), entry.shape, entry.color)
      text(entry.name, at: (left + 10, top), color: entry.color)
      left += width
    }
    if let limit { text("- - " + limit, at: (left, top)) }
  }

  /// Draws a ring around the mark of the size that fills connection events, and a label below the
  /// mark.
  package mutating func ringBest(
    _ point: (Double, Double), mtu: Int, _ color: String, within horizontal: PlotAxis
  ) {
    ring(point, color)
    let words = "best \(mtu)"
    let half = Double(words.count) * Self.characterWidth / 2
    let middle = min(point.0, horizontal.range.1 - half)
    text(words, at: (middle, point.1 + 21), .middle, color: color)
  }

  private static func label(_ value: Double) -> String {
    value >= 1000 ? Text.grouped(Int(value)) : Text.decimal(value)
  }
}
