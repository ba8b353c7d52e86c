#if Fleet
/// A suggestion for a misspelled name.
enum NameSuggestion {
  /// The maximum edit distance of a suggestion.
  private static let distanceMaximum = 2

  /// Returns `; did you mean 'id'?`, or an empty string.
  ///
  /// - Parameter others: synonyms of some of the names.
  static func words(
    for word: String, among names: [String], others: [String: String] = [:]
  ) -> String {
    let lowered = word.lowercased()
    let nearest = others[lowered] ?? Self.nearest(to: lowered, among: names)
    return nearest.map { "; did you mean '\($0)'?" } ?? ""
  }

  private static func nearest(to word: String, among names: [String]) -> String? {
    // The limit is needed because a name may be as long as the file.
    guard word.utf8.count <= 64 else { return nil }
    let scored = names.map { (name: $0, distance: distance(Array(word), Array($0))) }
    guard let best = scored.min(by: { $0.distance < $1.distance }),
      best.distance <= distanceMaximum, best.distance < min(word.count, best.name.count)
    else { return nil }
    return best.name
  }

  /// Returns the Levenshtein distance.
  private static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var row = Array(0...right.count)
    for (i, letter) in left.enumerated() {
      var (diagonal, next) = (row[0], [i + 1])
      for (j, other) in right.enumerated() {
        next.append(min(diagonal + (letter == other ? 0 : 1), row[j + 1] + 1, next[j] + 1))
        diagonal = row[j + 1]
      }
      row = next
    }
    return row[right.count]
  }
}
#endif
