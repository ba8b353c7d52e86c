/// The frame at the bottom of the terminal, and the bytes that replace or erase it. A value, so
/// that what is drawn follows from what was written, not from what was asked for.
package struct FrameRenderer: Sendable {
  /// The widths of the lines of the frame; the cursor is after the last.
  private var widths: [Int] = []
  package private(set) var hidesCursor = false

  /// Draws `lines` over the former frame, in one text, so that nothing flickers.
  package mutating func draw(_ lines: [Line], columns: Int) -> String {
    guard !lines.isEmpty else { return erase(columns: columns) }
    let hide = hidesCursor ? "" : "\u{1B}[?25l"
    let rows = lines.map { $0.shown + "\u{1B}[K" }.joined(separator: "\n")
    let text = hide + home(columns: columns) + rows + "\u{1B}[J"
    hidesCursor = true
    widths = lines.map(\.columns)
    return text
  }

  /// Nothing where no frame is drawn.
  package mutating func erase(columns: Int) -> String {
    guard !widths.isEmpty else { return "" }
    defer { widths = [] }
    return home(columns: columns) + "\u{1B}[J"
  }

  package mutating func showCursor() -> String {
    defer { hidesCursor = false }
    return hidesCursor ? "\u{1B}[?25h" : ""
  }

  /// Another process wrote below the frame, which therefore remains.
  package mutating func forget() { self = FrameRenderer() }

  /// From the end of the frame to its first column. A terminal that has become narrower since has
  /// wrapped its lines.
  private func home(columns: Int) -> String {
    let rows = widths.reduce(0) { $0 + max(($1 + columns - 1) / columns, 1) }
    return rows > 1 ? "\r\u{1B}[\(rows - 1)A" : "\r"
  }
}
