/// Words as a POSIX shell reads them back.
enum ShellWords {
  static func join(_ words: [String]) -> String { words.map(quote).joined(separator: " ") }

  static func quote(_ word: String) -> String {
    let plain = word.unicodeScalars.allSatisfy { scalar in
      ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
        || "-_./:=@%+,".unicodeScalars.contains(scalar)
    }
    guard !plain || word.isEmpty else { return word }
    return "'"
      + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}
