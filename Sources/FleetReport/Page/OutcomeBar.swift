#if Fleet
import OtaflashATT
import OtaflashNumerals

/// A bar that is divided by outcome, with a text for each part.
enum OutcomeBar {
  /// The minimum width of a part in percent, so that one device of ten thousand is visible.
  private static let leastPercent = 0.7

  static func values(_ counts: OutcomeCounts) -> PageValues {
    let parts = Outcome.allCases.filter { counts[$0] > 0 }
    let total = Double(max(counts.total, 1))
    let raw = parts.map { max(Double(counts[$0]) * 100 / total, leastPercent) }
    let sum = raw.reduce(0, +)
    var at = 0.0
    var values: [PageValues] = []
    for (outcome, width) in zip(parts, raw) {
      let share = width * 100 / sum
      values.append([
        "x": at.pixels, "width": share.pixels, "class": outcome.rawValue,
        "count": Numerals.grouped(counts[outcome]), "sign": outcome.sign,
        "words": outcome.words,
      ])
      at += share
    }
    let texts = parts.map { "\(Numerals.grouped(counts[$0])) \($0.words)" }
    return ["parts": values, "summary": texts.joined(separator: ", ")]
  }
}

extension Outcome {
  /// The sign that is shown in addition to the color.
  package var sign: String {
    switch self {
    case .succeeded: "✓"
    case .failed: "✕"
    case .unseen: "?"
    case .neutral: "!"
    case .running: "▸"
    case .waiting: "…"
    case .leftOut: "–"
    }
  }
}
#endif
