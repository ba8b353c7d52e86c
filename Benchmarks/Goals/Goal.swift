/// One row of the table.
struct Goal: Sendable {
  let what: String
  let wanted: String
  let measured: String
  let isMet: Bool
}

enum Figure {
  /// Returns a number with a fixed number of decimal places, such as `97.3`.
  static func fixed(_ value: Double, digits: Int = 1) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((value * scale).rounded())
    guard digits > 0 else { return String(scaled) }
    let fraction = String(scaled.magnitude % UInt(scale))
    let zeros = String(repeating: "0", count: digits - fraction.count)
    return "\(scaled < 0 ? "-" : "")\(scaled.magnitude / UInt(scale)).\(zeros)\(fraction)"
  }

  static func percent(_ share: Double) -> String { fixed(share * 100) + " %" }

  static func kilobytes(_ bytesPerSecond: Double) -> String {
    fixed(bytesPerSecond / 1000) + " kB/s"
  }
}
