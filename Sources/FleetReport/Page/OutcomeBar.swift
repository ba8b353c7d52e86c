#if Fleet
import OtaflashATT
import OtaflashNumerals

/// A bar that is divided by outcome, with a text for each part.
package enum OutcomeBar {
  /// A part of a bar; position and width are percentages.
  package struct Part: Sendable {
    package let outcome: Outcome
    package let x: Double
    package let width: Double
  }

  /// The minimum width of a part in percent, so that one device of ten thousand is visible.
  private static let leastPercent = 0.7

  static func values(_ counts: OutcomeCounts) -> PageValues {
    let values = parts(counts).map { part -> PageValues in
      [
        "x": part.x.pixels, "width": part.width.pixels, "class": part.outcome.rawValue,
        "count": Numerals.grouped(counts[part.outcome]), "sign": part.outcome.sign,
        "words": part.outcome.words,
      ]
    }
    return ["parts": values, "summary": summary(counts)]
  }

  package static func parts(_ counts: OutcomeCounts) -> [Part] {
    let outcomes = Outcome.allCases.filter { counts[$0] > 0 }
    let total = Double(max(counts.total, 1))
    let raw = outcomes.map { max(Double(counts[$0]) * 100 / total, leastPercent) }
    let sum = raw.reduce(0, +)
    var at = 0.0
    return zip(outcomes, raw).map { outcome, width in
      let share = width * 100 / sum
      defer { at += share }
      return Part(outcome: outcome, x: at, width: share)
    }
  }

  /// Returns a text such as `38 updated, 2 failed`.
  package static func summary(_ counts: OutcomeCounts) -> String {
    Outcome.allCases.filter { counts[$0] > 0 }
      .map { "\(Numerals.grouped(counts[$0])) \($0.words)" }.joined(separator: ", ")
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
