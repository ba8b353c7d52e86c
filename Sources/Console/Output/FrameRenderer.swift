/// The frame at the bottom of the terminal, and the bytes that replace or erase it. The type is a
/// value, so that each frame depends only on the text that was written, not on the text that was
/// requested.
package struct FrameRenderer: Sendable {
  /// The widths of the lines of the frame; the cursor is at the end of the last line.
  private var widths: [Int] = []
  package private(set) var hidesCursor = false

  /// Returns one string that draws `lines` over the previous frame without flicker.
  package mutating func draw(_ lines: [Line], columns: Int) -> String {
    guard !lines.isEmpty else { return erase(columns: columns) }
    let hide = hidesCursor ? "" : "\u{1B}[?25l"
    let rows = lines.map { $0.shown + "\u{1B}[K" }.joined(separator: "\n")
    let text = hide + home(columns: columns) + rows + "\u{1B}[J"
    hidesCursor = true
    widths = lines.map(\.columns)
    return text
  }

  /// Returns the bytes that erase the frame; empty without a frame.
  package mutating func erase(columns: Int) -> String {
    guard !widths.isEmpty else { return "" }
    defer { widths = [] }
    return home(columns: columns) + "\u{1B}[J"
  }

  package mutating func showCursor() -> String {
    defer { hidesCursor = false }
    return hidesCursor ? "\u{1B}[?25h" : ""
  }

  /// Discards the frame, because another process has written below it.
  package mutating func forget() { self = FrameRenderer() }

  /// Returns the bytes that move the cursor from the end of the frame to its start. If the terminal
  /// has become narrower since the frame was drawn, the terminal has wrapped the lines.
  private func home(columns: Int) -> String {
    let rows = widths.reduce(0) { $0 + max(($1 + columns - 1) / columns, 1) }
    return rows > 1 ? "\r\u{1B}[\(rows - 1)A" : "\r"
  }
}
