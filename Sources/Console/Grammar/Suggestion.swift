/// Finds the known name that is nearest to a misspelled name.
package enum Suggestion {
  private static let distanceMaximum = 2

  package static func nearest(to word: String, among names: [String]) -> String? {
    let scored = names.map { (name: $0, distance: distance(word, $0)) }
    guard let best = scored.min(by: { $0.distance < $1.distance }),
      best.distance <= distanceMaximum, best.distance < word.count
    else { return nil }
    return best.name
  }

  /// Returns the edit distance, in which a swap of two adjacent characters counts as one edit
  /// (optimal string alignment).
  package static func distance(_ left: String, _ right: String) -> Int {
    let a = Array(left.lowercased())
    let b = Array(right.lowercased())
    var rows = [Array(0...b.count)]
    for (i, letter) in a.enumerated() {
      var row = [i + 1]
      for (j, other) in b.enumerated() {
        var cost = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (letter == other ? 0 : 1))
        if i > 0, j > 0, letter == b[j - 1], a[i - 1] == other {
          cost = min(cost, rows[i - 1][j - 1] + 1)
        }
        row.append(cost)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
