/// Words quoted for a POSIX shell, which reads them unchanged (words with control characters since
/// POSIX 2024).
package enum ShellWords {
  package static func join(_ words: [String]) -> String { words.map(quote).joined(separator: " ") }

  package static func quote(_ word: String) -> String {
    let plain = word.unicodeScalars.allSatisfy { scalar in
      ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
        || "-_./:=@%+,".unicodeScalars.contains(scalar)
    }
    guard !plain || word.isEmpty else { return word }
    guard !word.unicodeScalars.contains(where: VisibleText.isHidden) else { return spelled(word) }
    return "'"
      + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }

  /// Returns a word with control characters escaped, so that printing the text cannot control a
  /// terminal.
  private static func spelled(_ word: String) -> String {
    var text = "$'"
    for scalar in word.unicodeScalars {
      switch scalar {
      case "'", "\\": text += "\\\(scalar)"
      case _ where VisibleText.isHidden(scalar):
        for byte in String(scalar).utf8 {
          text += "\\" + Text.padded(String(byte, radix: 8), 3)
        }
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "'"
  }
}
