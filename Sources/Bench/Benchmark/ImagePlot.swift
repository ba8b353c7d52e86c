import OtaflashDelta

/// The plot of the effect of patches: image bytes per second against ATT_MTU, uncompressed and with
/// streams, with the limit of the flash. The plot has no side effects: the input is rows, the
/// output SVG.
package struct ImagePlot {
  private static let size = (width: 1040, height: 440)
  private static let mtuMaximum = 517
  private static let right = 1010.0

  private let title: String
  private let series: [(name: String, rows: [ImageRow])]
  private let flashRate: Double?
  private let highest: Double

  package init(title: String, rows: [ImageRow]) {
    self.title = title
    var groups: [(name: String, rows: [ImageRow])] = []
    let links = rows.map(\.link)
    for row in rows {
      let name = BenchmarkPlot.name(row.link, among: links) + ": " + row.content.words
      if let index = groups.firstIndex(where: { $0.name == name }) {
        groups[index].rows.append(row)
      } else {
        groups.append((name, [row]))
      }
    }
    series = groups.map { ($0.name, $0.rows.sorted { $0.link.link.mtu < $1.link.link.mtu }) }
    flashRate = rows.first?.flashRate
    highest = (rows.map(\.rate) + [flashRate ?? 0]).max() ?? 1
  }

  package var document: String {
    var canvas = SVGCanvas(width: Self.size.width, height: Self.size.height)
    canvas.text(title, at: (86, 28), isBold: true)
    let horizontal = PlotAxis(to: Double(Self.mtuMaximum), range: (86, Self.right))
    let vertical = PlotAxis(to: highest / 1000, range: (380, 98))
    canvas.frame(
      horizontal, vertical, titles: ("ATT_MTU in bytes", "kB of image per second"))
    if let flashRate {
      let y = vertical.position(flashRate / 1000)
      canvas.path([(horizontal.range.0, y), (Self.right, y)], "#333333", isDashed: true)
    }
    for (index, entry) in series.enumerated() {
      let points = entry.rows.map {
        (
          horizontal.position(Double($0.link.link.mtu)), vertical.position($0.rate / 1000)
        )
      }
      canvas.path(points, color(index))
      for (row, point) in zip(entry.rows, points) {
        canvas.mark(point, index, color(index))
        guard row.link.isBest else { continue }
        canvas.ringBest(point, mtu: row.link.link.mtu, color(index), within: horizontal)
      }
    }
    canvas.legend(
      series.enumerated().map { ($1.name, color($0), $0) }, to: Self.right,
      limit: flashRate == nil ? nil : "the flash's limit")
    return canvas.document
  }

  private func color(_ index: Int) -> String {
    SVGCanvas.palette[index % SVGCanvas.palette.count]
  }
}
