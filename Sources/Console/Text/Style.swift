/// The capabilities of an output stream.
package struct Style: Equatable, Sendable {
  package var color: Bool
  /// Whether the character set of the locale is UTF-8.
  package var unicode: Bool
  package var columns = 80

  package static let plain = Style(color: false, unicode: false)

  package func bold(_ text: String) -> Line { paint("1", text) }
  package func red(_ text: String) -> Line { paint("1;31", text) }
  package func green(_ text: String) -> Line { paint("32", text) }
  package func dim(_ text: String) -> Line { paint("2", text) }

  /// Returns the character under the cursor of a line editor, with a mark.
  package func cursor(_ text: String) -> Line {
    color ? paint("7", text) : Line(text == " " ? "_" : text)
  }

  private func paint(_ code: String, _ text: String) -> Line {
    Line(text, paint: color ? code : nil)
  }

  package var tick: String { unicode ? "✓" : "ok" }
  package var arrow: String { unicode ? "→" : "->" }
  package var backArrow: String { unicode ? "←" : "<-" }
  /// The text between facts.
  package var separator: String { unicode ? " · " : ", " }
  package var pointer: String { unicode ? "▸" : ">" }
  package var ellipsis: String { unicode ? "…" : "..." }
}

/// The bar of a transfer: the bytes that were held before this run, the bytes sent in this run, and
/// the remaining bytes.
package struct ProgressBar {
  package let width: Int
  package let resumedFrom: Int
  package let done: Int
  package let total: Int

  package init(width: Int, resumedFrom: Int, done: Int, total: Int) {
    self.width = width
    self.resumedFrom = resumedFrom
    self.done = done
    self.total = total
  }

  package func drawn(in style: Style) -> String {
    let held = cells(resumedFrom)
    let full = max(held, cells(done))
    let symbols = style.unicode ? ("╍", "━", "╸", "─") : ("=", "#", ">", "-")
    let tip = full < width && full > held ? symbols.2 : ""
    let rest = width - full - (tip.isEmpty ? 0 : 1)
    return String(repeating: symbols.0, count: held)
      + String(repeating: symbols.1, count: full - held) + tip
      + String(repeating: symbols.3, count: rest)
  }

  private func cells(_ bytes: Int) -> Int {
    total > 0 ? min(width, width * min(bytes, total) / total) : width
  }
}
