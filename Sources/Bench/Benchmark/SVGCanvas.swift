import OtaflashConsole

/// Writes the elements of SVG 1.1 that the plots need.
package struct SVGCanvas {
  package enum Anchor: String { case start, middle, end }

  private let width: Int
  private let height: Int
  private var elements: [String] = []

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// The complete document.
  package var document: String {
    let head =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(width) \(height)\" "
      + "width=\"\(width)\" height=\"\(height)\" font-family=\"sans-serif\" font-size=\"13\">"
    let ground = "<rect width=\"\(width)\" height=\"\(height)\" fill=\"#ffffff\"/>"
    return ([head, ground] + elements + ["</svg>"]).joined(separator: "\n") + "\n"
  }

  package mutating func line(
    _ from: (Double, Double), _ to: (Double, Double), _ color: String, width: Double = 1
  ) {
    elements.append(
      "<line x1=\"\(Self.number(from.0))\" y1=\"\(Self.number(from.1))\" "
        + "x2=\"\(Self.number(to.0))\" y2=\"\(Self.number(to.1))\" stroke=\"\(color)\" "
        + "stroke-width=\"\(Self.number(width))\"/>")
  }

  package mutating func path(_ points: [(Double, Double)], _ color: String, isDashed: Bool = false)
  {
    let list = points.map { "\(Self.number($0.0)),\(Self.number($0.1))" }
    let dashes = isDashed ? " stroke-dasharray=\"5 4\" stroke-width=\"1.5\"" : " stroke-width=\"2\""
    elements.append(
      "<polyline fill=\"none\" stroke=\"\(color)\"\(dashes) points=\""
        + list.joined(separator: " ") + "\"/>")
  }

  package mutating func rectangle(
    _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ color: String
  ) {
    elements.append(
      "<rect x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" width=\"\(Self.number(width))\" "
        + "height=\"\(Self.number(height))\" fill=\"\(color)\"/>")
  }

  /// Draws a mark at a measured point. The shape identifies the series even without the color.
  package mutating func mark(_ point: (Double, Double), _ shape: Int, _ color: String) {
    let (x, y) = point
    switch shape % 3 {
    case 0:
      elements.append(
        "<circle cx=\"\(Self.number(x))\" cy=\"\(Self.number(y))\" r=\"4\" fill=\"\(color)\"/>")
    case 1: rectangle(x - 4, y - 4, 8, 8, color)
    default:
      let corners = [(x, y - 5), (x + 5, y + 4), (x - 5, y + 4)]
        .map { "\(Self.number($0.0)),\(Self.number($0.1))" }.joined(separator: " ")
      elements.append("<polygon points=\"\(corners)\" fill=\"\(color)\"/>")
    }
  }

  /// Draws a ring around a mark.
  package mutating func ring(_ point: (Double, Double), _ color: String) {
    elements.append(
      "<circle cx=\"\(Self.number(point.0))\" cy=\"\(Self.number(point.1))\" r=\"8\" "
        + "fill=\"none\" stroke=\"\(color)\" stroke-width=\"1.5\"/>")
  }

  package mutating func text(
    _ text: String, at point: (Double, Double), _ anchor: Anchor = .start,
    color: String = "#333333", isBold: Bool = false, turned: Bool = false
  ) {
    let (x, y) = (Self.number(point.0), Self.number(point.1))
    let weight = isBold ? " font-weight=\"bold\"" : ""
    let turn = turned ? " transform=\"rotate(-90 \(x) \(y))\"" : ""
    elements.append(
      "<text x=\"\(x)\" y=\"\(y)\" text-anchor=\"\(anchor.rawValue)\" "
        + "fill=\"\(color)\"\(weight)\(turn)>\(Self.escaped(text))</text>")
  }

  package static func number(_ value: Double) -> String {
    let text = Text.fixed(value)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  package static func escaped(_ text: String) -> String {
    VisibleText.escaped(text).replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(
      ">", with: "&gt;")
  }
}

/// An axis: maps values of `domain` to `range` of the canvas, with ticks at round values.
package struct PlotAxis {
  package let domain: ClosedRange<Double>
  package let range: (Double, Double)

  /// Creates an axis from 0 to a round value above `maximum`.
  package init(to maximum: Double, range: (Double, Double)) {
    let step = Self.step(maximum)
    domain = 0...max(step, (maximum * 1.04 / step).rounded(.up) * step)
    self.range = range
  }

  package func position(_ value: Double) -> Double {
    range.0 + (range.1 - range.0) * value / domain.upperBound
  }

  package var ticks: [Double] {
    let step = Self.step(domain.upperBound)
    return Array(stride(from: 0, through: domain.upperBound + step / 1000, by: step))
  }

  /// Returns the distance of ticks: 1, 2 or 5 times a power of ten, for four to ten ticks.
  private static func step(_ maximum: Double) -> Double {
    var step = 1.0
    while maximum / step > 10 { step *= 10 }
    while maximum / step < 1 { step /= 10 }
    if maximum / step < 2 { return step / 5 }
    return maximum / step < 5 ? step / 2 : step
  }
}
