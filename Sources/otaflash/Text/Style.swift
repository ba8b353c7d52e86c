/// What a stream can show.
struct Style: Equatable, Sendable {
  var color: Bool
  /// The locale's character set is UTF-8.
  var unicode: Bool
  var columns = 80

  static let plain = Style(color: false, unicode: false)

  func bold(_ text: String) -> Line { paint("1", text) }
  func red(_ text: String) -> Line { paint("1;31", text) }
  func green(_ text: String) -> Line { paint("32", text) }
  func dim(_ text: String) -> Line { paint("2", text) }

  private func paint(_ code: String, _ text: String) -> Line {
    Line(text, paint: color ? code : nil)
  }

  var tick: String { unicode ? "✓" : "ok" }
  var arrow: String { unicode ? "→" : "->" }
  var backArrow: String { unicode ? "←" : "<-" }
  var dot: String { unicode ? "·" : "," }
  var pointer: String { unicode ? "▸" : ">" }
  var ellipsis: String { unicode ? "…" : "..." }
}

/// The bar of a transfer: held before this run, sent in this run, still to come.
struct ProgressBar {
  let width: Int
  let resumedFrom: Int
  let done: Int
  let total: Int

  func drawn(in style: Style) -> String {
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
